/** `scripts/node`: which Node a fresh clone runs on. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

const scripts = new URL('../../scripts/', import.meta.url).pathname;

let clone: string;
beforeEach(async () => {
  clone = await mkdtemp(join(tmpdir(), 'tancho-runtime-'));
  await mkdir(join(clone, 'scripts'));
  for (const name of ['node', 'runtime.mjs', 'prepare.mjs', 'runtime']) {
    await cp(join(scripts, name), join(clone, 'scripts', name), { recursive: true });
  }
  await mkdir(join(clone, 'bin'));
  for (const tool of ['dirname', 'sh']) await symlink(await which(tool), join(clone, 'bin', tool));
});
afterEach(() => rm(clone, { recursive: true }));

async function which(program: string): Promise<string> {
  for (const directory of (process.env['PATH'] ?? '').split(':')) {
    const path = join(directory, program);
    if (
      await readFile(path).then(
        () => true,
        () => false,
      )
    )
      return path;
  }
  throw new Error(`this machine has no ${program}`);
}

/** Runs `scripts/node --print <expression>` with nothing but the clone's `bin` on the path. */
async function evaluate(expression: string, env: Record<string, string> = {}) {
  const argv = [join(clone, 'scripts/node'), '--print', expression];
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile(join(clone, 'bin/sh'), argv, { env: { PATH: join(clone, 'bin'), ...env } }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

/** A `node` on the path that says it is of another version. */
async function machineNode(version: string): Promise<void> {
  const disguise = join(clone, 'disguise.mjs');
  const versions = JSON.stringify({ node: version });
  await writeFile(disguise, `Object.defineProperty(process, 'versions', { value: ${versions} });`);
  await program('node', `exec "${process.execPath}" --import "${disguise}" "$@"`);
}

async function program(name: string, script: string): Promise<void> {
  const path = join(clone, 'bin', name);
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
}

it('is the machine’s own when it is new enough', async () => {
  await symlink(process.execPath, join(clone, 'bin/node'));
  expect(await evaluate('process.execPath')).toEqual({ code: 0, stdout: `${process.execPath}\n`, stderr: '' });
  // Settled once: from now on no other is looked for.
  await rm(join(clone, 'bin/node'));
  expect((await evaluate('1 + 1')).stdout).toBe('2\n');
});

it('is fetched beside the clone when the machine’s is older', async () => {
  await machineNode('18.19.0');
  const fetched = `.runtime/download/node_modules/node-linux-${process.arch}/bin`;
  // Stands in for the registry: what it was asked for, and the file that it would bring.
  await program(
    'npm',
    `echo "$@" > "${clone}/asked"
     "${await which('mkdir')}" -p "${clone}/${fetched}"
     "${await which('ln')}" -s "${process.execPath}" "${clone}/${fetched}/node"`,
  );
  const { code, stdout, stderr } = await evaluate('21 * 2');
  expect({ code, stdout }).toEqual({ code: 0, stdout: '42\n' });
  expect(stderr).toContain('Fetching Node 24 (this machine has 18.19.0)');
  expect(await readFile(join(clone, 'asked'), 'utf8')).toMatch(/^ci --prefix .*\.runtime\/download /);
  expect(await readlink(join(clone, '.runtime/node'))).toBe(join(clone, fetched, 'node'));
});

it('is what another one has settled meanwhile', async () => {
  await machineNode('18.19.0');
  await program('npm', 'exit 1');
  const lock = join(clone, '.tancho-preparing');
  await writeFile(lock, String(process.pid));
  const argv = [join(clone, 'scripts/node'), '--print', '1'];
  const child = spawn(join(clone, 'bin/sh'), argv, { env: { PATH: join(clone, 'bin') }, stdio: 'pipe' });
  const ended = once(child, 'close');
  let reported = '';
  for await (const bytes of child.stderr) {
    reported += String(bytes);
    if (reported.includes('Waiting')) break;
  }
  await symlink(process.execPath, join(clone, '.runtime/node'));
  await rm(lock);
  expect(await ended).toEqual([0, null]);
});

it('is refused with what to do when it cannot be fetched, and tried again the next time', async () => {
  await machineNode('20.19.0');
  await program('npm', 'echo no route to the registry >&2; exit 1');
  for (const attempt of [1, 2]) {
    const { code, stderr } = await evaluate(String(attempt));
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /no route to the registry\nError: Fetching Node 24 .* failed\.\n {2}Hint: Check the network/,
    );
  }
});

it.each([
  ['none', null, /Error: Node is not installed\.\n {2}Hint: Install Node 18 or newer/],
  ['one that is too old to begin with', '16.20.0', /Error: Tancho needs Node 18 or newer to begin with; this is 16/],
])('of a machine that has %s: says what to install', async (_, version, says) => {
  if (version !== null) await machineNode(version);
  const { code, stderr } = await evaluate('1');
  expect(code).toBe(1);
  expect(stderr).toMatch(says);
});
