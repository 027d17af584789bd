/** Provokes failures, does what their hints say, and sees the next push serve. */
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sshUrl, type WorkTree } from '../../support/git.ts';
import { ImageRegistry } from '../../support/image-registry.ts';
import { ofRounds } from '../../support/rounds.ts';
import { registryEnv, run } from '../../support/world.ts';
import { type CorpusWorld, corpusWorld, PUSH_MS } from '../pushed/corpus-world.ts';
import { lockTools, removeLockTools } from '../pushed/lock-tools.ts';
import { missingNeed } from '../pushed/needs.ts';
import type { HintRow, Step } from './hint-row.ts';
import { exampleOf, isOfPlan } from './plan-hints.ts';

const BUSYBOX = '/bin/busybox';
/** Of a program of somebody else, in the reason for a skip. */
const PRINTED_CHARACTERS = 500;

interface Taking {
  readonly corpus: CorpusWorld;
  readonly app: string;
  readonly work: WorkTree;
  /** As it was printed. */
  readonly hint: string;
  /** Of who takes it: beside the app, for programs go on writing there, and none of that is to be pushed. */
  readonly home: string;
}

/** One test for each that no plan shows; those with the same settings of the server share one. */
export function takeAll(rows: Readonly<Record<string, HintRow>>): void {
  const worlds = new Map<string, Promise<CorpusWorld>>();
  let registry: ImageRegistry | null = null;
  let home = '';
  const opened = (env: Readonly<Record<string, string>>): Promise<CorpusWorld> => {
    const key = JSON.stringify(env);
    const world = worlds.get(key) ?? corpusWorld(env);
    worlds.set(key, world);
    return world;
  };
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'tancho-developer-'));
  });
  afterAll(async () => {
    for (const world of worlds.values()) await (await world).dispose();
    await registry?.close();
    await removeLockTools();
    await rm(home, { recursive: true, force: true, maxRetries: 10 });
  });

  const pushed = ofRounds(Object.entries(rows), ([, { isExtra }]) => isExtra !== true).filter(
    ([, row]) => !isOfPlan(row),
  );
  const named = pushed.map(([title, row], index) => [title, row, `shop-${index}`] as const);
  it.for(named)('%s', { timeout: PUSH_MS }, async ([, row, app], test) => {
    const missing = await missingNeed(row.needs ?? []);
    if (missing !== null) return test.skip(missing);
    if (row.needs?.includes('images') === true) registry ??= await servingRegistry();
    const words = { APP: app, REGISTRY: registry?.host ?? '', WHERE_RUST_IS: process.env['PATH'] ?? '' };
    const filled = (text: string): string =>
      Object.entries(words).reduce((all, [word, value]) => all.replaceAll(word, value), text);
    const corpus = await opened(row.env ?? {});
    await corpus.createApp(app, row.platform ?? 'auto');
    if (row.settings !== undefined) await corpus.tancho(['app', 'update', '-a', app, ...row.settings]);
    for (const command of row.before ?? []) await corpus.tancho(filled(command).split(' '));
    const work = await corpus.workTree(mapped(row.files, filled));
    try {
      const failed = await corpus.push(work, app);
      if (row.cause === undefined) expect(failed.code, failed.stderr).toBe(0);
      else expect(failed.stderr).toContain(`Deploy failed (${row.cause}): `);
      expect(failed.stderr).toContain(row.says ?? '');
      const hint = filled(row.hint);
      expect(failed.stderr).toContain(hint);
      for (const step of row.follow) {
        const undone = await take(step, { corpus, app, work, hint, home }, filled);
        if (undone !== null) return test.skip(undone);
      }
      await work.commit();
      const pushed = await corpus.push(work, app);
      expect(pushed.code, pushed.stderr).toBe(0);
      expect((await corpus.page(app, '/')).text).toContain(row.page);
    } finally {
      await work.dispose();
    }
  });
}

/** Why a program of somebody else did not do what it says; null: all is done. */
async function take(step: Step, taking: Taking, filled: (text: string) => string): Promise<string | null> {
  const { corpus, app, work, hint } = taking;
  if ('edit' in step) {
    const texts = Object.entries(step.edit).map(([path, text]) => [path, text === null ? null : filled(text)]);
    await work.write(Object.fromEntries(texts) as Record<string, string | null>);
  } else if ('exampleTo' in step) {
    await work.write({ [step.exampleTo]: exampleOf(hint) });
  } else if ('tancho' in step) {
    // To the explanation behind it, which is set off.
    const commands = [...hint.matchAll(/\btancho (.*?)(?=\s{3}|;|$)/gs)].map(([, command = '']) => command);
    const command = commands.find((each) => each.startsWith(step.begins ?? '')) ?? '';
    expect(command, hint).not.toBe('');
    const words = command.split(' ').map((word) => step.tancho[word] ?? word);
    // Whose app it is, says its remote, as "tancho app create" sets it.
    await run('git', ['remote', 'add', 'tancho', sshUrl(corpus.world, app)], { cwd: work.dir, env: work.env });
    await corpus.tancho(words, work);
  } else if ('inApp' in step) {
    let printed = '';
    for (const command of step.inApp) printed = await inApp(filled(command), taking);
    if (step.writes === undefined) return null;
    const { file, text } = step.writes;
    const written = await readFile(join(work.dir, file), 'utf8').catch(() => '');
    if (!written.includes(text)) return `"${step.inApp.join('", "')}" wrote no ${text} into ${file}: ${printed}`;
  } else {
    await corpus.restart(mapped(step.operator, filled));
  }
  return null;
}

/** As a person with that program would; answers what it printed. */
async function inApp(command: string, { work, hint, home }: Taking): Promise<string> {
  expect(hint).toContain(command);
  const [program = '', ...args] = command.split(' ');
  const path = await lockTools(program);
  const env = { ...registryEnv(), ...work.env, PATH: path, HOME: home };
  const ran = await run(program, args, { cwd: work.dir, env, timeoutMs: PUSH_MS });
  expect(ran.code, ran.stderr).toBe(0);
  return `${ran.stdout}${ran.stderr}`.trim().slice(-PRINTED_CHARACTERS);
}

function mapped(files: Readonly<Record<string, string>>, filled: (text: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [path, filled(text)]));
}

/** With an image that serves a page. */
async function servingRegistry(): Promise<ImageRegistry> {
  const registry = await ImageRegistry.start();
  registry.addImage('serving', '1', {
    architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
    layers: [
      [{ path: 'busybox', data: readFileSync(BUSYBOX), mode: 0o755 }],
      [{ path: 'www/index.html', data: 'mended' }],
    ],
    config: { Entrypoint: ['/busybox', 'sh', '-c', 'exec /busybox httpd -f -p $PORT -h /www'] },
  });
  return registry;
}
