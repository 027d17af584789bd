import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { list } from 'tar';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CliWorld } from '../../../test/support/cli-world.ts';
import { problem, startPlatform, stream } from '../../../test/support/scripted-platform.ts';
import { ignoreRules } from './ignore-rules.ts';
import { pack } from './pack.ts';

let world: CliWorld;
beforeEach(() => {
  world = new CliWorld();
  for (const directory of ['lib', 'lib/deep', 'node_modules', 'theme', 'theme/.git']) {
    mkdirSync(join(world.work, directory));
  }
  for (const name of ['app.js', 'lib/a.js', 'lib/deep/b.log', 'node_modules/m.js', 'theme/.git/config', '@odd', '-x']) {
    writeFileSync(join(world.work, name), name);
  }
  symlinkSync('app.js', join(world.work, 'link'));
});
afterEach(() => world.dispose());

async function packed(paths: readonly string[]): Promise<string[]> {
  const { archive } = await pack(world.work, paths);
  const names: string[] = [];
  const parser = list({
    onReadEntry: (entry) => names.push(`${entry.path}${entry.type === 'File' ? '' : ` ${entry.type}`}`),
  });
  await new Promise((resolve, reject) => {
    parser.on('end', resolve).on('error', reject);
    archive.on('data', (chunk: Buffer) => parser.write(chunk)).on('end', () => parser.end());
  });
  return names.map((name) => name.replace(/^\.\//, '')).sort();
}

it('packs a directory but for what the ignore file names, and never .git', async () => {
  writeFileSync(join(world.work, '.tsuruignore'), '# not these\nnode_modules/\n*.log\n.tsuruignore\n');
  expect(await packed(['.'])).toEqual(['-x', '@odd', 'app.js', 'lib/a.js', 'link SymbolicLink']);
  expect(await packed(['lib'])).toEqual(['a.js', 'deep/b.log']);
  expect(await packed(['lib', 'app.js'])).toEqual(['app.js', 'lib/a.js']);
});

it('packs files with several names, however many of them come last', async () => {
  for (const count of [1, 2, 3]) {
    for (let other = 0; other < count; other += 1)
      linkSync(join(world.work, 'lib/a.js'), join(world.work, `lib/z${count}${other}`));
    const names = await packed(['lib']);
    expect(names.filter((name) => name.endsWith(' Link'))).toHaveLength((count * (count + 1)) / 2);
  }
});

it('names a file that cannot be read', async () => {
  const { archive } = await pack(world.work, ['.']);
  rmSync(join(world.work, 'node_modules/m.js'));
  await expect(archive.toArray()).rejects.toThrow(/node_modules\/m\.js cannot be packed: it was removed meanwhile/);
});

it('packs what git would add', async () => {
  writeFileSync(join(world.work, '.gitignore'), 'node_modules\n-x\n');
  execFileSync('git', ['init', '-q'], { cwd: world.work });
  execFileSync('git', ['add', 'app.js', 'lib'], { cwd: world.work });
  execFileSync('rm', [join(world.work, 'lib/a.js')]);
  expect(await packed(['.'])).toEqual(['.gitignore', '@odd', 'app.js', 'lib/deep/b.log', 'link SymbolicLink']);
});

it('packs nothing where there is a repository that git does not read, for only git knows what is to stay', async () => {
  const wanted = (): Promise<unknown> => pack(world.work, ['lib/deep']);
  execFileSync('git', ['init', '-q'], { cwd: world.work });
  const { PATH, GIT_TEST_ASSUME_DIFFERENT_OWNER: owner } = process.env;
  try {
    process.env['GIT_TEST_ASSUME_DIFFERENT_OWNER'] = '1';
    await expect(wanted()).rejects.toMatchObject({
      message: expect.stringContaining('cannot be left out: detected dubious ownership') as string,
      hint: expect.stringContaining(`git config --global --add safe.directory ${world.work}`) as string,
    });
    process.env['PATH'] = world.home;
    await expect(wanted()).rejects.toThrow('cannot be left out: git is not installed.');
  } finally {
    process.env['PATH'] = PATH;
    if (owner === undefined) delete process.env['GIT_TEST_ASSUME_DIFFERENT_OWNER'];
  }
  writeFileSync(join(world.work, '.git/HEAD'), '');
  await expect(wanted()).rejects.toThrow('cannot be left out: not a git repository');
  rmSync(join(world.work, '.git'), { recursive: true });
  expect(await packed(['lib/deep'])).toEqual(['b.log']);
});

it('packs the files of submodules', async () => {
  const git = (cwd: string, ...args: string[]) => {
    const own = ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'protocol.file.allow=always'];
    execFileSync('git', [...own, ...args], { cwd, stdio: 'ignore' });
  };
  const theme = join(world.work, 'node_modules');
  git(theme, 'init', '-q');
  git(theme, 'add', '.');
  git(theme, 'commit', '-qm', 'a theme');
  git(world.work, 'init', '-q');
  git(world.work, 'submodule', 'add', theme, 'lib/theme');
  writeFileSync(join(world.work, '.gitignore'), 'node_modules\n*.log\n');
  expect(await packed(['lib'])).toEqual(['a.js', 'theme/m.js']);
});

it('refuses what is not there, not below, or nothing', async () => {
  await expect(pack(world.work, ['nowhere'])).rejects.toThrow('There is no file or directory "nowhere"');
  await expect(pack(world.work, ['..', 'app.js'])).rejects.toThrow('not below');
  mkdirSync(join(world.work, 'empty'));
  await expect(pack(world.work, ['empty'])).rejects.toThrow('no file to deploy');
});

it('sends the archive with its message, and prints what the platform says', async () => {
  const platform = await startPlatform({ 'POST /apps/shop/deploy': stream({ Message: 'building\n' }) });
  const env = { TANCHO_TARGET: platform.url, TANCHO_TOKEN: 'tok' };
  for (const words of [['deploy'], ['app', 'deploy']]) {
    const ran = await world.run([...words, '.', '-a', 'shop', '-m', 'new prices'], { env });
    expect([ran.code, ran.out], ran.err).toEqual([0, 'building\nshop is deployed.\n']);
  }
  expect(platform.lines()).toEqual(Array(2).fill('POST /apps/shop/deploy?origin=app-deploy&message=new+prices'));
  expect(platform.asked[0]?.headers['content-type']).toBe('application/gzip');
  await platform.close();
});

it('says that it sends when that takes long', async () => {
  const platform = await startPlatform({
    'POST /apps/shop/deploy': (asked, response) => {
      setTimeout(() => stream({ Message: 'building\n' })(asked, response), 1_200);
    },
  });
  const ran = await world.run(['deploy', '-a', 'shop'], { env: { TANCHO_TARGET: platform.url, TANCHO_TOKEN: 'tok' } });
  expect(ran.out).toMatch(/^-----> Sending \d+ files\nbuilding\nshop is deployed\.\n$/);
  await platform.close();
});

it('shows why a deploy was refused, and takes the directory it is in without a path', async () => {
  const platform = await startPlatform({
    'POST /apps/shop/deploy': (asked, response) => {
      problem(400, 'deploy.invalid_source', 'There is no Procfile.', 'Add one.')(asked, response);
    },
  });
  const env = { TANCHO_TARGET: platform.url, TANCHO_TOKEN: 'tok' };
  const ran = await world.run(['deploy', '.', '-a', 'shop'], { env });
  expect([ran.code, ran.err]).toEqual([1, expect.stringMatching(/There is no Procfile\.\n.*Add one\./)]);
  const bare = await world.run(['deploy'], { env });
  expect([bare.code, bare.err]).toEqual([2, expect.stringContaining('No app is named')]);
  const here = await world.run(['deploy', '-a', 'shop'], { env });
  expect([here.code, here.err]).toEqual([1, expect.stringContaining('There is no Procfile.')]);
  const missing = await world.run(['deploy', 'lst', '-a', 'shop'], { env });
  expect([missing.code, missing.err]).toEqual([1, expect.stringContaining('no file or directory "lst"')]);
  await platform.close();
});

it('reads ignore rules as people know them', () => {
  const ignores = ignoreRules('*.log\n!keep.log\n/top\nbuild/\na/**/z\nq?\n');
  const ignored = (path: string, isDirectory = false): boolean => ignores(path, isDirectory);
  expect(['x.log', 'd/x.log', 'top', 'a/b/c/z', 'a/z', 'd/q1'].every((path) => ignored(path))).toBe(true);
  expect(['keep.log', 'd/top', 'build', 'q', 'xlog', 'a/zz'].some((path) => ignored(path))).toBe(false);
  expect(ignored('d/build', true)).toBe(true);
});

it('fails with the error of what packs', async () => {
  const platform = await startPlatform({ 'POST /apps/shop/deploy': stream() });
  const never = new Readable({ read() {} });
  never.push('x');
  never.destroy(new Error('the file went away'));
  const { createClient } = await import('../../client/client.ts');
  const client = createClient({ baseUrl: platform.url }, 'tok');
  await expect(client.deploys.upload('shop', { archive: never, message: '' })).rejects.toThrow('the file went away');
  await platform.close();
});
