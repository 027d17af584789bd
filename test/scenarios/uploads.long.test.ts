/** Code that comes without git push: by the command line and by HTTP, built and served by the real program. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { allowPush, createIdentity, createWorkTree, type Identity, nodeApp, sshUrl } from '../support/git.ts';
import { startWorld, type World } from '../support/world.ts';

let world: World;
let ann: Identity;
let token: string;
let scratch: string;

beforeAll(async () => {
  world = await startWorld();
  ann = await createIdentity();
  token = await allowPush(world, ann);
  scratch = await mkdtemp(path.join(tmpdir(), 'uploads-'));
  const created = await world.api('POST', '/apps', {
    token,
    body: JSON.stringify({ name: 'shop', platform: 'nodejs' }),
  });
  expect(created.status, created.text).toBe(200);
});

afterAll(async () => {
  await world.dispose();
  await ann.dispose();
  await rm(scratch, { recursive: true, force: true });
});

async function directory(name: string, files: Readonly<Record<string, string>>): Promise<string> {
  const top = path.join(scratch, name);
  for (const [file, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(top, file)), { recursive: true });
    await writeFile(path.join(top, file), text);
  }
  return top;
}

const deploys = async () => (await world.api('GET', '/deploys?app=shop', { token })).json<Record<string, string>[]>();
const served = async () => (await world.fetchApp('shop')).text;

async function send(archive: Buffer): Promise<{ status: number; text: string }> {
  const response = await fetch(`${world.apiUrl}/apps/shop/deploy`, {
    method: 'POST',
    headers: { authorization: `bearer ${token}`, 'content-type': 'application/gzip' },
    body: new Uint8Array(archive),
  });
  return { status: response.status, text: await response.text() };
}

it('deploys a directory, shows the difference to the one before, and goes back', async () => {
  const first = await directory('first', {
    ...nodeApp('one'),
    'secret.txt': 'x',
    '.tanchoignore': 'secret.txt\n.tanchoignore\n',
  });
  const ran = await world.cli(['deploy', first, '-a', 'shop', '-m', 'the first'], { cwd: scratch });
  expect(ran.code, ran.stdout + ran.stderr).toBe(0);
  expect(ran.stdout).toMatch(/Received \d files[^]*answers at http[^]*shop is deployed\.\n$/);
  expect(await served()).toBe('one');
  const second = await directory('second', nodeApp('two'));
  expect((await world.cli(['app', 'deploy', '.', '-a', 'shop'], { cwd: second })).code).toBe(0);
  expect(await served()).toBe('two');
  const [newest] = await deploys();
  expect(newest).toMatchObject({ Origin: 'app-deploy', Error: '' });
  const { Diff: diff } = (await world.api('GET', `/deploys/${newest?.['ID']}`, { token })).json<{ Diff: string }>();
  expect(diff).toMatch(/-[^\n]*one[^]*\+[^\n]*two/);
  expect(diff).not.toContain('b/secret.txt');
  const back = await world.cli(['deploy', 'rollback', '-a', 'shop']);
  expect(back.code, back.stderr).toBe(0);
  expect(await served()).toBe('one');
});

it('says why an upload cannot be deployed, and what serves goes on', async () => {
  const before = await served();
  const bare = await directory('bare', { 'README.md': 'nothing to run\n' });
  const ran = await world.cli(['deploy', bare, '-a', 'shop']);
  expect([ran.code, ran.stdout + ran.stderr]).toEqual([
    1,
    expect.stringMatching(/Deploy failed \((?:no_platform|no_process)\)/),
  ]);
  const archive = execFileSync('tar', ['-czf', '-', '-C', path.join(scratch, 'first'), '.'], { encoding: 'buffer' });
  expect(await send(archive.subarray(0, archive.length - 200))).toMatchObject({ status: 400 });
  expect(await send(Buffer.from('no archive'))).toMatchObject({ status: 400 });
  const up = execFileSync(
    'tar',
    ['-czPf', '-', '-C', path.join(scratch, 'first'), '--transform=s,server.js,../out.js,', '.'],
    {
      encoding: 'buffer',
    },
  );
  expect((await send(up)).text).toMatch(/leaves the archive|not be found/);
  expect(await served()).toBe(before);
  expect((await send(archive)).text).toMatch(/\nOK\n$/);
  expect(await served()).toBe('one');
});

it('does not get into the way of pushes, and shows its commits to nobody', async () => {
  const tree = await createWorkTree(nodeApp('pushed'), ann);
  const pushed = await tree.push(sshUrl(world, 'shop'));
  expect(pushed.code, pushed.stderr).toBe(0);
  expect(await served()).toBe('pushed');
  await tree.dispose();
  const packed = await readFile(path.join(world.home, 'repos', 'shop.git', 'HEAD'), 'utf8');
  expect(packed).toMatch(/^ref: refs\/heads\//);
});
