/** Every next step that the code suggests to people whose deploy failed, as it is written there. */
import { globSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

export interface WrittenHint {
  /** Below src/. */
  readonly file: string;
  readonly text: string;
  /** What of it is always the same, the longest part. */
  readonly fixed: string;
}

const SOURCES = new URL('../../../src/', import.meta.url).pathname;
/** What plans, builds, and starts new code. */
const PLACES = [
  'build-plan/**/*.ts',
  'backends/builder/platform/**/*.ts',
  'backends/provisioner/process/readiness.ts',
  'backends/provisioner/process/volume-mounts.ts',
  'backends/image-source/registry/registry-client.ts',
  'domain/units/hook-run.ts',
  'domain/units/units.ts',
  'domain/rollouts/rollouts.ts',
  'domain/deploys/image-command.ts',
  'domain/pages/refused-hosts.ts',
  'domain/services/file-names.ts',
  'domain/volumes/{declared-volumes,release-mounts}.ts',
];
/** Definitions of platforms are sent to the API, not pushed. */
const ASIDE = /\.test\.ts$|^build-plan\/written\//;
const LITERAL = /'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`/g;
const LITERAL_HERE = new RegExp(LITERAL.source, 'y');
/** Whose last literal is a next step. */
const CALLS = /(?:(?<![.\w])wrong|#failure)\(/g;
const FIELDS = /\b(?:hint|advice)\s*:\s*|\bhint\s*=\s*|\bOUTDATED = [^>]*>\s*/g;
/** Less says nothing. */
const SHORTEST = 12;

export function writtenHints(): WrittenHint[] {
  const found: WrittenHint[] = [];
  for (const path of globSync(PLACES, { cwd: SOURCES })) {
    const file = relative('.', path);
    if (ASIDE.test(file)) continue;
    for (const text of hintsIn(readFileSync(`${SOURCES}${file}`, 'utf8'))) {
      const fixed = longestFixed(text);
      if (fixed.length >= SHORTEST) found.push({ file, text, fixed });
    }
  }
  return found;
}

function hintsIn(code: string): string[] {
  const texts: string[] = [];
  for (const field of code.matchAll(FIELDS)) {
    const value = valueFrom(code, field.index + field[0].length);
    // Its own text is looked at where it is made.
    if (!value.startsWith('OUTDATED(')) texts.push(...literalsIn(value));
  }
  for (const call of code.matchAll(CALLS)) {
    const last = literalsIn(valueFrom(code, call.index + call[0].length)).at(-1);
    if (last !== undefined) texts.push(last);
  }
  return [...new Set(texts)];
}

/** To the comma, bracket or semicolon that ends it; of arguments, to the bracket. */
function valueFrom(code: string, start: number): string {
  const isCall = code[start - 1] === '(';
  let depth = 0;
  for (let at = start; at < code.length; at += 1) {
    const char = code[at] ?? '';
    if (char === "'" || char === '`') {
      LITERAL_HERE.lastIndex = at;
      at += (LITERAL_HERE.exec(code)?.[0].length ?? 1) - 1;
    } else if ('([{'.includes(char)) depth += 1;
    else if (')]}'.includes(char) && depth === 0) return code.slice(start, at);
    else if (')]}'.includes(char)) depth -= 1;
    else if (depth === 0 && (char === ';' || (char === ',' && !isCall))) return code.slice(start, at);
  }
  return code.slice(start);
}

function literalsIn(code: string): string[] {
  return [...code.matchAll(LITERAL)].map(([, plain, template]) => (plain ?? template ?? '').replace(/\\(.)/g, '$1'));
}

function longestFixed(text: string): string {
  const parts = text.split(/\$\{(?:[^{}`]|\{[^{}]*\}|`[^`]*`)*\}/);
  return parts.reduce((longest, part) => (part.length > longest.length ? part : longest), '').trim();
}
