import { mkdir, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { builderWorld } from '../../../../test/support/builder-world.ts';
import type { BuilderWorld } from '../../../../test/support/builder-world.ts';
import { FAKE } from '../../../../test/support/fake-language.ts';
import { isRunning } from '../../../../test/support/plain-sandbox.ts';
import { treeOf } from '../../../../test/support/source-trees.ts';
import type { Failure } from '../../../domain/failure.ts';
import type { PlatformBuilderOptions } from './open-context.ts';

const APP = { 'app.txt': '', 'default.txt': '' };
const worlds: BuilderWorld[] = [];

afterEach(async () => {
  for (const world of worlds.splice(0)) await world.dispose();
});

async function world(more: Partial<PlatformBuilderOptions> = {}, uid?: number): Promise<BuilderWorld> {
  const made = await builderWorld([FAKE], { more, ...(uid !== undefined && { uid }) });
  worlds.push(made);
  return made;
}

function hook(command: string, files: Record<string, string> = {}) {
  return treeOf({ ...APP, ...files, 'tancho.yaml': JSON.stringify({ hooks: { build: [command] } }) });
}

describe('a platform that was added', () => {
  const definition = [
    'description: Added',
    'example: ./run',
    'detect: [added.txt]',
    'tools: [{ program: cp, install: { apt-get: apt-get install -y coreutils } }]',
    "steps: [{ name: copy, run: [cp, added.txt, '{app}.txt'] }]",
    'processes: [{ name: web, command: ./added }]',
  ].join('\n');

  it('is described, and builds like those that came with the program', async () => {
    const { builder, build, code } = await world();
    expect(await builder.describe('added', definition)).toMatchObject({
      name: 'added',
      description: 'Added',
      ready: true,
    });
    expect((await builder.platforms()).map(({ name }) => name)).toEqual(['fake']);
    const artifact = await build({
      platform: 'added',
      added: { added: definition },
      source: treeOf({ 'added.txt': 'hello' }),
    });
    expect(artifact.processes).toEqual({ web: './added' });
    expect(await readFile(code(artifact, 'shop.txt'), 'utf8')).toBe('hello');
    await expect(build({ platform: 'added', added: { added: definition }, source: treeOf(APP) })).rejects.toMatchObject(
      {
        code: 'no_platform',
        hint: expect.stringContaining('fake') as string,
      },
    );
  });

  it('that cannot be read fails the build with the line that is wrong', async () => {
    const { builder, build } = await world();
    const wrong = `${definition}\nask: [1]`;
    await expect(builder.describe('added', wrong)).rejects.toMatchObject({ code: 'platform.invalid_definition' });
    await expect(
      build({ platform: 'added', added: { added: wrong }, source: treeOf({ 'added.txt': '' }) }),
    ).rejects.toMatchObject({ code: 'no_platform', message: expect.stringContaining('line 7') as string });
  });

  it('is taken for an app whose platform is what it pushes, unless it is disabled or cannot be read', async () => {
    const { build } = await world();
    const request = { platform: 'auto', added: { added: definition, wrong: 'x' }, source: treeOf({ 'added.txt': '' }) };
    expect(await build(request)).toMatchObject({ platform: 'added' });
    expect(await build({ ...request, source: treeOf(APP) })).toMatchObject({ platform: 'fake' });
    await expect(build({ ...request, disabled: ['added'] })).rejects.toMatchObject({ code: 'no_platform' });
  });

  it('changes nothing about how others find their programs', async () => {
    const { builder } = await world();
    const strict = definition.replace('program: cp', 'program: cp, minimum: 999.0.0');
    expect(await builder.describe('added', strict)).toMatchObject({ ready: false });
    expect(await builder.platforms()).toMatchObject([{ name: 'fake', ready: true }]);
    expect(await builder.describe('added', strict)).toMatchObject({ ready: false });
  });
});

describe('notes of a platform', () => {
  it('are said where they apply', async () => {
    const { build, lines } = await world();
    await build({ source: treeOf(APP) });
    expect(lines).not.toContain('compiling is slow');
    await build({ source: treeOf({ ...APP, 'compile.txt': '' }) });
    expect(lines).toContain('compiling is slow');
  });
});

describe('what the files show to be wrong', () => {
  it('is said before anything is run', async () => {
    const { build, sandbox, lines } = await world();
    const before = sandbox.requests.length;
    await expect(
      build({ source: treeOf({ 'app.txt': '', 'packages.txt': '', 'compile.txt': '' }) }),
    ).rejects.toMatchObject({
      code: 'no_process',
      hint: expect.stringContaining('web: ./run') as string,
    });
    expect(sandbox.requests.slice(before)).toEqual([]);
    expect(lines).toEqual(['compiling is slow']);
  });
});

describe('a push', () => {
  it('prints tools with who asked for them, steps and processes, in a few lines', async () => {
    const { build, lines } = await world();
    const files = { 'packages.txt': '', 'vendor/a': '', 'compile.txt': '' };
    await build({ source: treeOf({ ...APP, ...files }) });
    expect(lines.slice(0, 4)).toEqual([
      'compiling is slow',
      expect.stringMatching(/^Building shop with fake: cp [\d.]+$/),
      'Steps: install packages, compile',
      'Process web: ./start (default.txt)',
    ]);
    const Procfile = ['web', 'a', 'b', 'c'].map((name) => `${name}: run ${name}\n`).join('');
    await build({ source: treeOf({ ...APP, Procfile }) });
    expect(lines.slice(1)).toEqual(['Processes: web, a, b, c']);
  });
});

describe('a step that fills what is kept between builds', () => {
  it('is run once, and again when that is gone', async () => {
    const { build, lines, home } = await world();
    const downloads = join(home, 'cache', 'shop', 'downloads');
    const source = treeOf({ ...APP, 'once.txt': '' });
    await build({ source });
    expect(lines).toContain('fill');
    await build({ source });
    expect(lines).not.toContain('fill');
    await rm(downloads, { recursive: true });
    await build({ source });
    expect(lines).toContain('fill');
    expect(await readdir(downloads)).toEqual(['filled']);
  });
});

describe('a site', () => {
  const SITE = { ...APP, 'site.txt': '' };
  const making = (command: string) => hook(command, { 'site.txt': '' });

  it('is the first directory in which the steps have made its page', async () => {
    const { build, manifest } = await world();
    const made = await build({ source: making('mkdir also made && touch also/index.html made/index.html') });
    expect((await manifest(made)).env).toMatchObject({ ROOT: 'made' });
    const other = await build({ source: making('mkdir -p also made/index.html && touch also/index.html') });
    expect((await manifest(other)).env).toMatchObject({ ROOT: 'also' });
  });

  it('without a page fails the build, unless the app starts something of its own', async () => {
    const { build, manifest } = await world();
    await expect(build({ source: treeOf(SITE) })).rejects.toMatchObject({
      code: 'build_failed',
      message: 'The build made no page.',
    });
    const own = await build({ source: treeOf({ ...SITE, Procfile: 'web: run\n' }) });
    expect((await manifest(own)).env).not.toHaveProperty('ROOT');
  });

  it('is not found through a link that leads out of the code', async () => {
    const { build } = await world();
    await expect(build({ source: making('mkdir made && ln -s /etc/passwd made/index.html') })).rejects.toMatchObject({
      code: 'build_failed',
    });
  });
});

describe('a slug', () => {
  it('says what its units need', async () => {
    const { build, manifest } = await world();
    const artifact = await build({ source: treeOf(APP) });
    expect(artifact.processes).toEqual({ web: './start' });
    expect(await manifest(artifact)).toEqual({
      format: 1,
      platform: 'fake',
      path: [],
      env: { FLAVOUR: 'vanilla' },
      binds: [],
    });
  });

  it('that was left unfinished is removed at the next start; finished ones stay', async () => {
    const { artifacts, home, build, reopen } = await world();
    const artifact = await build({ source: treeOf(APP) });
    await mkdir(join(home, 'slugs/other/000000000000000000000009/code'), { recursive: true });
    await mkdir(join(home, 'cache/other/build-9/home'), { recursive: true });
    await reopen();
    expect(await artifacts.list()).toEqual([{ id: artifact.id, app: 'shop' }]);
    expect(await readdir(join(home, 'slugs'))).toEqual(['shop']);
    expect(await readdir(join(home, 'cache/other'))).toEqual([]);
  });

  it('is never removed outside its directory, whatever it is called', async () => {
    const { artifacts, home, builder } = await world();
    await writeFile(join(home, 'precious'), '');
    for (const id of ['../precious', 'shop/../../precious', '..', '', 'shop/..']) await artifacts.remove(id);
    await builder.removeCache('..');
    expect(await readdir(home)).toContain('precious');
  });
});

describe('the steps of a build', () => {
  it('see the app environment over the platform one, private directories and nothing of the server', async () => {
    const { build, lines, home } = await world();
    process.env['SERVER_SECRET_OF_TEST'] = 'x';
    const show = hook(
      'echo "$FLAVOUR $ONLY_BUILD $PLAIN [$SERVER_SECRET_OF_TEST]"; echo "$HOME $TMPDIR"; touch $HOME/a $TMPDIR/b',
    );
    await build({ source: show, env: { FLAVOUR: 'mint', PLAIN: '1', PATH: '/nowhere', HOME: '/' }, privateEnv: [] });
    delete process.env['SERVER_SECRET_OF_TEST'];
    expect(lines).toContain('mint yes 1 []');
    expect(lines.find((line) => line.endsWith('/tmp'))).toContain(join(home, 'cache/shop/build-'));
    expect(await readdir(join(home, 'cache/shop'))).toEqual(['downloads', 'used']);
  });

  it('leave no process behind, whether they end well or are cancelled', async () => {
    const { build, lines } = await world();
    await build({ source: hook('sleep 300 & echo "pid $!"') });
    const cancel = new AbortController();
    const pids = [Number(lines.find((line) => line.startsWith('pid'))?.slice(4))];
    const endless = build({ source: hook('sleep 300 & echo "pid $!"; wait') }, cancel.signal);
    const failed = expect(endless).rejects.toMatchObject({ code: 'cancelled' });
    await expect.poll(() => lines.some((line) => line.startsWith('pid'))).toBe(true);
    pids.push(Number(lines.find((line) => line.startsWith('pid'))?.slice(4)));
    cancel.abort();
    await failed;
    for (const pid of pids) await expect.poll(() => isRunning(pid)).toBe(false);
  });

  it('are stopped when the build takes too long', async () => {
    const ended: unknown[] = []; // On a busy machine a short time may be over before anything is printed.
    for (const buildTimeoutMs of [300, 3_000, 30_000]) {
      const { artifacts, build } = await world({ buildTimeoutMs });
      const failure: unknown = await build({ source: hook('echo slow; sleep 300') }).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: 'timeout' });
      expect(await artifacts.list()).toEqual([]);
      if (ended.push(...(failure as Failure).lines) > 0) break;
    }
    expect(ended).toEqual(['slow']);
  });

  it('that fail for want of disk space say so', async () => {
    const { build } = await world();
    await expect(
      build({ source: hook('echo "cp: write error: No space left on device"; exit 1') }),
    ).rejects.toMatchObject({ code: 'disk_full' });
    const full = { extract: () => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' })) };
    await expect(build({ source: full })).rejects.toMatchObject({ code: 'disk_full' });
  });

  it('name the step, the exit code and the last fifty lines', async () => {
    const { build } = await world();
    const failure = (await build({ source: hook('seq 1 80; exit 3') }).catch((error: unknown) => error)) as {
      message: string;
      lines: string[];
    };
    expect(failure.message).toBe('The step "hooks.build: seq 1 80; exit 3" failed with exit code 3.');
    expect(failure.lines).toEqual(Array.from({ length: 50 }, (_, index) => String(index + 31)));
  });
});

describe('tools', () => {
  it('that are missing fail the build with the command that installs them', async () => {
    const { build } = await world();
    await expect(build({ source: treeOf({ ...APP, 'needs-more.txt': '' }) })).rejects.toMatchObject({
      code: 'toolchain_missing',
      message: expect.stringMatching(
        /no-such-program is not installed. Install it with: apt-get install -y no-such-package/,
      ) as string,
    });
  });

  it('of another version are fetched once, shared, and come first in PATH', async () => {
    const { build, manifest, lines, home } = await world();
    const source = treeOf({ ...APP, 'app.json': '{"wants":{"cp":"^97.0.0"}}' });
    const slug = await manifest(await build({ source }));
    const tree = join(home, 'toolchains/cp/97.2.0/tree');
    expect(slug).toMatchObject({ path: [join(tree, 'bin')], binds: [tree] });
    expect((await readdir(tree)).sort()).toEqual(['bin', 'note.txt']);
    expect(lines).toContainEqual(
      expect.stringMatching(
        /^Building shop with fake: cp 97\.2\.0 \(app\.json asks for \^97\.0\.0, instead of the installed [\d.]+\)$/,
      ),
    );
    const made = (await stat(join(tree, 'bin'))).ctimeMs;
    await build({ source, app: 'other' });
    expect((await stat(join(tree, 'bin'))).ctimeMs).toBe(made);
    expect((await readdir(join(home, 'toolchains'))).sort()).toEqual(['cp']);
  });

  it('that are missing are fetched where the platform says how, in the version that is asked for', async () => {
    const { build, manifest, lines, home } = await world();
    const source = (json: string) => treeOf({ ...APP, 'download.txt': '', 'app.json': json });
    const slug = await manifest(await build({ source: source('{}') }));
    expect(slug).toMatchObject({ path: [join(home, 'toolchains/nowhere/97.2.0/tree/bin')] });
    expect(lines).toContainEqual(expect.stringMatching(/, nowhere 97\.2\.0 \(none is installed\)$/));
    // A release that the registry has not is one with corrections of the same line.
    await build({ source: source('{"wants":{"nowhere":"96.9.9"}}') });
    expect(lines).toContainEqual(expect.stringMatching(/, nowhere 96\.9\.10 \(app\.json asks for 96\.9\.9\)$/));
    await expect(build({ source: source('{"wants":{"nowhere":"5"}}') })).rejects.toMatchObject({
      message: 'No version of nowhere matches "5".',
      hint: expect.stringContaining('Installed here: none; available: 96.9.10, 97.2.0, 98.0.0') as string,
    });
  });

  it('are fetched by a shared tool; when that fails it is said what to do', async () => {
    const { build, lines, manifest } = await world();
    const source = (version: string) => treeOf({ ...APP, 'app.json': JSON.stringify({ wants: { mv: version } }) });
    const artifact = await build({ source: source('95') });
    expect(lines.filter((line) => line.startsWith('preparing')).join()).toMatch(
      /^preparing helper for cp .*mv 95\.1\.0/,
    );
    expect((await manifest(artifact)).path).toContainEqual(expect.stringMatching(/mv\/95\.1\.0\/tree\/bin$/));
    await expect(build({ source: source('96') })).rejects.toMatchObject({
      code: 'toolchain_missing',
      message: expect.stringContaining('Fetching mv 96.0.0') as string,
      hint: 'Set a mirror.',
    });
  });

  it('of a version that does not exist are refused with those that do', async () => {
    const { build } = await world();
    const wanting = (range: string) =>
      build({ source: treeOf({ ...APP, 'app.json': JSON.stringify({ wants: { cp: range } }) }) });
    await expect(wanting('>=200')).rejects.toMatchObject({
      code: 'toolchain_missing',
      message: 'No version of cp matches ">=200".',
      hint: expect.stringContaining('available: 96.9.10, 97.2.0, 98.0.0. Change app.json and push again.') as string,
    });
  });
});

describe('a version that the source names', () => {
  const wanting = (text: string) => treeOf({ ...APP, 'wanted.txt': text });

  it('is looked for among all that are installed', async () => {
    const { build, lines } = await world();
    await build({ source: wanting('>=18, <100') });
    const { node } = process.versions;
    expect(lines).toContainEqual(expect.stringContaining(`git ${node} (wanted.txt asks for >=18, <100)`));
  });

  it('and is not here is refused with those that are', async () => {
    const { build } = await world();
    await expect(build({ source: wanting('99.1') })).rejects.toMatchObject({
      code: 'toolchain_missing',
      message: 'wanted.txt asks for git 99.1, which this server does not have.',
      hint: expect.stringMatching(
        RegExp(`^Installed here: 2\\.[\\d.]+, ${process.versions.node}\\. Change wanted\\.txt`),
      ) as string,
    });
  });
});

describe('hostile sources', () => {
  it('cannot make the server read through links', async () => {
    const { build, home } = await world();
    await writeFile(join(home, 'secret'), 'web: secret-command');
    await expect(build({ source: treeOf({ 'app.txt': '', Procfile: '-> ../../../../secret' }) })).rejects.toMatchObject(
      { code: 'no_process' },
    );
  });

  it('cannot plant a link where files of the platform or packages go', async () => {
    const made = await builderWorld();
    worlds.push(made);
    const outside = join(made.home, 'outside');
    await mkdir(outside);
    const artifact = await made.build({
      platform: 'static',
      source: treeOf({ 'index.html': '', '.tancho': `-> ${outside}` }),
    });
    expect(await readdir(outside)).toEqual([]);
    expect(await readFile(made.code(artifact, '.tancho/server.mjs'), 'utf8')).toContain('createServer');
  });

  it('is left to a program that fetches it itself, when it is one that does', async () => {
    const { build, lines } = await world();
    const since = (text: string) => treeOf({ ...APP, 'wanted.txt': '99.1', 'fetches.txt': text });
    await build({ source: since('2.0.0') });
    expect(lines).toContainEqual(
      expect.stringMatching(/git 2\.[\d.]+ \(wanted\.txt asks for 99\.1, which it fetches\)/),
    );
    await expect(build({ source: since('98.0.0') })).rejects.toMatchObject({ code: 'toolchain_missing' });
  });
});

it('units find the programs of the code in the directories that the plan names, before any others', async () => {
  const { build, code, manifest } = await world();
  const artifact = await build({ source: treeOf({ ...APP, 'own/run': '', 'app.json': '{"wants":{"cp":"97.2"}}' }) });
  expect((await manifest(artifact)).path[0]).toBe(code(artifact, 'own'));
});
