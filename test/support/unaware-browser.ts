/**
 * A browser that does not notice that networks of this machine come and go, as those of units do all the time: it would cut off everything it
 * loads. It notices by netlink, which a filter of system calls refuses.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FIRST_ARGUMENT_AT, give, load, whenEqual } from '../../src/sandbox/seccomp/bpf.ts';
import { ALLOWED, type Judge, REFUSED, seccompFilter } from '../../src/sandbox/seccomp/filter.ts';
import { underFilter } from '../../src/sandbox/seccomp/under-filter.ts';

const AF_NETLINK = 16;
const unaware: Judge = (name) =>
  name === 'socket' ? [load(FIRST_ARGUMENT_AT), whenEqual(AF_NETLINK), give(REFUSED), give(ALLOWED)] : [give(ALLOWED)];

export interface BrowserProgram {
  readonly path: string;
  remove(): Promise<void>;
}

/** A script that takes the browser's arguments; where there can be no filter, one that starts it as it is. */
export async function unawareBrowser(browser: string): Promise<BrowserProgram> {
  const folder = await mkdtemp(join(tmpdir(), 'tancho-browser-'));
  const path = join(folder, 'browser');
  const command = [...(underFilter(seccompFilter(process.arch, unaware), { gainsNothing: true }) ?? []), browser];
  await writeFile(path, `#!/bin/sh\nexec ${command.map(quoted).join(' ')} "$@"\n`, { mode: 0o700 });
  return { path, remove: () => rm(folder, { recursive: true, force: true }) };
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
