/** The house rules that a machine can check: who imports whom, how large things are, what they may be called. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '..');
const HARD_LINES = 400;
const P95_LINES = 300;
const FUNCTION_LINES = 80;
const VAGUE = /^(?:utils?|helpers?|common|misc|manager|core|shared|types)(?:\.|$)/;
const EFFECTS =
  /^node:(?:fs|fs\/promises|http|https|net|tls|dgram|child_process|cluster|worker_threads)$|^src\/lib\/node-http\.ts$/;

interface SourceFile {
  /** Relative to the root, with forward slashes. */
  readonly name: string;
  readonly text: string;
  readonly imports: readonly string[];
}

function trackedFiles(): string[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return listed.split('\n').filter((name) => name !== '');
}

function load(name: string): SourceFile {
  const text = readFileSync(path.join(ROOT, name), 'utf8');
  const found = text.matchAll(
    /^\s*(?:import|export)\s[^'"]*?from\s+['"]([^'"]+)['"]|^\s*import\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/gm,
  );
  const imports = [...found].map((match) => match[1] ?? match[2] ?? match[3] ?? '');
  return { name, text, imports: imports.map((target) => (target.startsWith('.') ? resolve(name, target) : target)) };
}

/** What is loaded with it, other than types and what is imported by a call. */
function importsAtOnce({ name, text }: SourceFile): string[] {
  const found = text.matchAll(/^(?:import|export)\s(?!type\b)[^'"]*?from\s+'([^']+)'|^import\s+'([^']+)'/gm);
  const targets = [...found].map((match) => match[1] ?? match[2] ?? '');
  return targets.map((target) => (target.startsWith('.') ? resolve(name, target) : target));
}

const EXPORTED = /^export (?:abstract )?(?:async )?(?:function\*?|const|class|enum|interface|type) (\w+)/gm;

/** As `<file>: <name>`; what is imported by a call, or as a whole, is `*`, and a type that is named by a call itself. */
function importedNames({ name, text }: SourceFile): string[] {
  const listed = [...text.matchAll(/^\s*(?:import|export)\s([^'"]*?)from\s+['"](\.[^'"]+)['"]/gm)];
  const called = [...text.matchAll(/\bimport\(\s*['"](\.[^'"]+)['"]\s*\)(?:\.(\w+))?/g)];
  return [
    ...listed.flatMap(([, what = '', target = '']) => {
      const names = (/\{([^}]*)\}/.exec(what)?.[1] ?? '').split(',').map((one) => one.trim().replace(/^type\s+/, ''));
      const all = what.includes('*') ? ['*'] : [];
      return [...names.map((one) => one.split(/\s+as\s+/)[0] ?? ''), ...all].map(
        (one) => `${resolve(name, target)}: ${one}`,
      );
    }),
    ...called.map(([, target = '', type = '']) => `${resolve(name, target)}: ${/^[A-Z]/.test(type) ? type : '*'}`),
  ];
}

function resolve(from: string, target: string): string {
  return path.posix.normalize(path.posix.join(path.posix.dirname(from), target));
}

const files = trackedFiles()
  .filter((name) => /\.(?:tsx?|mts|mjs|js)$/.test(name))
  .flatMap((name) => {
    try {
      return [load(name)];
    } catch {
      return [];
    }
  });
const source = files.filter((file) => file.name.startsWith('src/'));
const program = source.filter((file) => !isTest(file.name));

function isTest(name: string): boolean {
  return /\.test\.ts$|\/conformance(?:-\w+)?\.ts$|\/testing\/|-world\.ts$/.test(name);
}

/** `src/backends/store/sql/apps.ts` -> `backends/store/sql`; `src/domain/apps/app.ts` -> `domain`. */
function layer(name: string): string {
  const [, top = '', kind = '', implementation = ''] = name.split('/');
  if (top !== 'backends') return top.replace(/\.ts$/, '');
  return implementation.endsWith('.ts') ? `backends/${kind}` : `backends/${kind}/${implementation}`;
}

/** What only backends build on. */
const ENGINES = ['kubernetes', 'networks', 'sandbox', 'sql'];

const ALLOWED: Record<string, (target: string) => boolean> = {
  lib: (target) => target === 'lib',
  networks: (target) => target === 'networks' || target === 'lib',
  sandbox: (target) => ['sandbox', 'networks', 'lib'].includes(target),
  sql: (target) => target === 'sql' || target === 'lib',
  kubernetes: (target) => target === 'kubernetes' || target === 'lib',
  domain: (target) => target === 'domain' || target === 'lib',
  config: (target) => target === 'config' || target === 'lib',
  'build-plan': (target) => ['build-plan', 'domain', 'lib'].includes(target),
  api: (target) => ['api', 'domain', 'lib'].includes(target),
  'git-push': (target) => ['git-push', 'domain', 'lib'].includes(target),
  edge: (target) => target === 'edge' || target === 'lib' || target === 'domain',
  client: (target) => target === 'client',
  cli: (target) => ['cli', 'client', 'config', 'lib'].includes(target),
  providers: (target) => target === 'providers' || target === 'lib',
  dashboard: (target) => target === 'dashboard',
};

function mayImport(from: string, to: string): boolean {
  const own = layer(from);
  const target = layer(to);
  // daemon.ts and the wiring in daemon/.
  if (target === 'daemon') return own === 'main' || own === 'daemon';
  if (own === 'daemon' || own === 'main' || own === 'keeper' || own === 'log-thread') return true;
  if (own === 'backends/registry.ts' || from === 'src/backends/registry.ts') return true;
  if (target === 'providers' && from.startsWith('src/cli/provider/')) return true;
  // `tancho build plan` needs no server.
  if (target === 'build-plan' && from.startsWith('src/cli/build/')) return true;
  // `tancho install kubernetes` talks to a cluster, not to a server.
  if (target === 'kubernetes' && from.startsWith('src/cli/install/')) return true;
  // What the implementations of one kind have in common lies beside their folders.
  const isSameKind = own.startsWith(`${target}/`) || target.startsWith(`${own}/`);
  if (own.startsWith('backends/'))
    return target === own || isSameKind || ['build-plan', 'domain', ...ENGINES, 'lib'].includes(target);
  return ALLOWED[own]?.(target) ?? false;
}

/** The dashboard is a client of the API; what that answers is generated as types. */
function isTypeOfAnswers(file: SourceFile, target: string): boolean {
  const isAllowed = file.name.startsWith('src/dashboard/') && target.startsWith('src/client/operations/');
  return isAllowed && typeOnly(file, target);
}

describe('imports', () => {
  it('point inward', () => {
    const wrong = program.flatMap((file) =>
      file.imports
        .filter((target) => target.startsWith('src/') && !mayImport(file.name, target))
        .filter((target) => !isTypeOfAnswers(file, target))
        .map((target) => `${file.name} -> ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it('leave nothing exported that nobody imports', () => {
    const wanted = new Set(files.flatMap(importedNames));
    const unwanted = source.flatMap(({ name, text }) =>
      [...text.matchAll(EXPORTED)]
        .map(([, one]) => `${name}: ${one}`)
        .filter((one) => !wanted.has(one) && !wanted.has(`${name}: *`)),
    );
    expect(unwanted).toEqual([]);
  });

  it('of the domain have no effects', () => {
    const wrong = program
      .filter((file) => file.name.startsWith('src/domain/'))
      .flatMap((file) =>
        file.imports.filter((target) => EFFECTS.test(target)).map((target) => `${file.name} -> ${target}`),
      );
    expect(wrong).toEqual([]);
  });

  it('of the edge are the standard library, lib, itself and types', () => {
    const wrong = program
      .filter((file) => file.name.startsWith('src/edge/'))
      .flatMap((file) =>
        file.imports
          .filter((target) => !target.startsWith('node:') && !/^src\/(?:edge|lib)\//.test(target))
          .filter((target) => !typeOnly(file, target))
          .map((target) => `${file.name} -> ${target}`),
      );
    expect(wrong).toEqual([]);
  });

  it('of the providers are the standard library, lib, themselves and the clients of their servers', () => {
    const wrong = program
      .filter((file) => file.name.startsWith('src/providers/'))
      .flatMap((file) =>
        file.imports
          .filter((target) => !/^(?:node:|src\/(?:providers|lib)\/|(?:pg|ioredis|yaml)$)/.test(target))
          .map((target) => `${file.name} -> ${target}`),
      );
    expect(wrong).toEqual([]);
  });

  it('of the dashboard are itself, what its page maps to files, and types of what the API answers', () => {
    const wrong = program
      .filter((file) => file.name.startsWith('src/dashboard/'))
      .flatMap((file) =>
        file.imports
          .filter((target) => !/^(?:src\/dashboard\/|preact(?:\/|$)|@preact\/signals$|uplot$|@xterm\/)/.test(target))
          .filter((target) => !isTypeOfAnswers(file, target))
          .map((target) => `${file.name} -> ${target}`),
      );
    expect(wrong).toEqual([]);
  });

  it('name the router of the API in one folder only', () => {
    const users = program.filter((file) => file.imports.includes('find-my-way'));
    expect([...new Set(users.map((file) => path.posix.dirname(file.name)))]).toEqual(['src/api/http']);
  });

  it('have no cycles', () => {
    expect(findCycle(program)).toBeNull();
  });

  it('of the folders of the domain point one way: units, then rollouts, then apps, then what is done with them', () => {
    expect(folderCycles()).toEqual([]);
  });
});

/** Every import of it is of types; one by a call is not. */
function typeOnly({ name, text }: SourceFile, target: string): boolean {
  const statements = [...text.matchAll(/^\s*(?:import|export)\s([^'"]*?)from\s+['"]([^'"]+)['"]/gm)];
  const own = statements.filter(([, , from = '']) => (from.startsWith('.') ? resolve(name, from) : from) === target);
  return own.length > 0 && own.every(([, what = '']) => /^type\b/.test(what));
}

/** What the records of volumes are to units, is below them; what people do with volumes is above apps. */
const ABOVE_ITS_FOLDER = 'src/domain/volumes/volumes.ts';

/** The folder, or the file where it lies beside the folders. Null outside of the domain. */
function domainFolder(name: string): string | null {
  if (name === ABOVE_ITS_FOLDER) return name;
  return /^src\/domain\/([^/]+)/.exec(name)?.[1] ?? null;
}

/** Imports of values from one folder of the domain to another one from which a way leads back. */
function folderCycles(): string[] {
  const links = new Map<string, Set<string>>();
  for (const file of program) {
    const from = domainFolder(file.name);
    for (const target of file.imports) {
      const to = domainFolder(target);
      if (from === null || to === null || from === to || typeOnly(file, target)) continue;
      links.set(from, (links.get(from) ?? new Set()).add(to));
    }
  }
  return [...links].flatMap(([from, targets]) =>
    [...targets].filter((to) => reachable(to, links).has(from)).map((to) => `${from} -> ${to}`),
  );
}

function reachable(start: string, links: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
  const found = new Set([start]);
  for (const name of found) for (const next of links.get(name) ?? []) found.add(next);
  return found;
}

/** Cycles of value imports; type imports are erased and may point both ways. */
function findCycle(all: readonly SourceFile[]): string[] | null {
  const byName = new Map(all.map((file) => [file.name, file]));
  const done = new Set<string>();
  const visit = (name: string, trail: readonly string[]): string[] | null => {
    if (trail.includes(name)) return [...trail.slice(trail.indexOf(name)), name];
    const file = byName.get(name);
    if (done.has(name) || file === undefined) return null;
    for (const target of file.imports) {
      if (typeOnly(file, target)) continue;
      const cycle = visit(target, [...trail, name]);
      if (cycle !== null) return cycle;
    }
    done.add(name);
    return null;
  };
  for (const file of all) {
    const cycle = visit(file.name, []);
    if (cycle !== null) return cycle;
  }
  return null;
}

describe('what is loaded at the start', () => {
  it('by control, the edge and the keeper leaves out what most of them never need', () => {
    const rare = [
      '@fastify/busboy',
      '@node-rs/argon2',
      'ajv',
      'fast-json-stringify',
      'ioredis',
      'node:http2',
      'nodemailer',
      'pg',
      'ssh2',
      'tar',
      'ws',
      'yaml',
      'src/api/docs-page.ts',
      'src/api/openapi.ts',
      'src/backends/service-endpoint/http/http-endpoint.ts',
      'src/backends/service-endpoint/osb/osb-endpoint.ts',
    ];
    const starts = ['src/daemon.ts', 'src/daemon/serve.ts', 'src/edge/start.ts', 'src/keeper/run.ts'];
    const links = new Map(program.map((file) => [file.name, new Set(importsAtOnce(file))]));
    for (const start of starts) {
      const loaded = [...reachable(start, links)];
      expect(loaded.length, start).toBeGreaterThan(10);
      expect(
        loaded.filter((name) => rare.includes(name)),
        start,
      ).toEqual([]);
    }
  });

  it('is loaded by way of lib/small-start.ts: entries load next to nothing themselves', () => {
    const links = new Map(program.map((file) => [file.name, new Set(importsAtOnce(file))]));
    for (const entry of ['src/main.ts', 'src/edge/main.ts']) {
      const loaded = [...reachable(entry, links)].filter((name) => name.startsWith('src/'));
      expect(loaded, entry).toContain('src/lib/small-start.ts');
      expect(loaded.length, entry).toBeLessThan(10);
    }
  });
});

describe('sizes', () => {
  it(`no file is over ${HARD_LINES} lines, and 95 % are within ${P95_LINES}`, () => {
    const sizes = files.map((file) => ({ name: file.name, lines: file.text.trimEnd().split('\n').length }));
    expect(sizes.filter((file) => file.lines > HARD_LINES)).toEqual([]);
    const sorted = sizes.map((file) => file.lines).sort((a, b) => a - b);
    expect(sorted[Math.floor(sorted.length * 0.95)] ?? 0).toBeLessThanOrEqual(P95_LINES);
  });

  it(`no function of the program is over ${FUNCTION_LINES} lines, but for the factories that only hold functions`, () => {
    expect(program.flatMap(longFunctions)).toEqual([]);
  });
});

/** By indentation, which the formatter guarantees: a function begins with its signature and ends with `}` at the same depth. */
function longFunctions(file: SourceFile): string[] {
  const lines = file.text.split('\n');
  const found: string[] = [];
  lines.forEach((line, start) => {
    const match = /^(\s*)(?:export )?(?:async )?(?:(?:static )?(?:async )?(?:\*?#?\w+)\(|function\*? ?\w*\().*\{$/.exec(
      line,
    );
    if (match === null || /^\s*(?:if|for|while|switch|catch|return|else)\b/.test(line)) return;
    const indent = match[1] ?? '';
    const end = lines.findIndex((other, at) => at > start && other.startsWith(`${indent}}`));
    const body = lines.slice(start + 1, end);
    const holdsFunctions = /^\s*(?:export )?(?:async )?function create\w+\(/.test(line);
    if (end - start > FUNCTION_LINES && !holdsFunctions) found.push(`${file.name}:${start + 1} (${body.length} lines)`);
  });
  return found;
}

describe('names and habits', () => {
  it('no file or folder has a name that says nothing', () => {
    const vague = trackedFiles().filter((name) => name.split('/').some((part) => VAGUE.test(part)));
    expect(vague).toEqual([]);
  });

  it('there is no any, no suppressed type error, no shell', () => {
    const banned =
      /(?:[:<|=]\s*|\b(?:as|extends|satisfies)\s+)any\b|,\s*any\s*>|@ts-(?:ignore|nocheck|expect-error)|\bshell: (?:true|')/;
    const code = files.filter((file) => /\.tsx?$/.test(file.name) && file.name !== 'test/architecture.test.ts');
    const found = code.flatMap((file) =>
      file.text
        .split('\n')
        .map((line, at) => ({ line: line.replace(/\/\/.*$|^\s*\/?\*.*$|supports\b.*$/, ''), at }))
        .filter(({ line }) => banned.test(line))
        .map(({ line, at }) => `${file.name}:${at + 1} ${line.trim()}`),
    );
    const shells = code.filter((file) =>
      /import\s*\{[^}]*\bexec(?:Sync)?\b[^}]*\}\s*from 'node:child_process'/.test(file.text),
    );
    expect([...found, ...shells.map((file) => `${file.name} imports exec`)]).toEqual([]);
  });

  it('node:http and node:https are imported for their types only: lib/node-http.ts says why', () => {
    const importing = program.filter((file) => /^import (?!type )[^;]*from 'node:https?'/m.test(file.text));
    expect(importing.map((file) => file.name)).toEqual([]);
  });

  it('no test is skipped without a reason', () => {
    const silent = /\.(?:skipIf|runIf)\(|\b(?:describe|it)\.(?:skip|todo)\b|\bskip\(\)/;
    const skipping = files.filter(
      ({ name, text }) => /\.tsx?$/.test(name) && name !== 'test/architecture.test.ts' && silent.test(text),
    );
    expect(skipping.map(({ name }) => `${name}: skipFor() of test/support/skips.ts takes a reason`)).toEqual([]);
  });

  it('there is no note of something left undone', () => {
    const marks = program.filter((file) => /\b(?:TODO|FIXME|XXX|HACK)\b/.test(file.text)).map((file) => file.name);
    expect(marks).toEqual([]);
  });
});
