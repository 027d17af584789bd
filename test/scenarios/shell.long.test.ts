/** A shell of an app in the real program: by the command line on a real terminal, and by websocket as other clients do it. */
import { spawn } from 'node:child_process';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { allowPush, createIdentity, createWorkTree, type Identity, nodeApp, sshUrl } from '../support/git.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from '../support/world.ts';
import { processesOf } from '../support/processes-of.ts';

let world: World;
let ann: Identity;
let token: string;

beforeAll(async () => {
  world = await startWorld();
  ann = await createIdentity();
  token = await allowPush(world, ann);
  for (const name of ['shop', 'bare']) {
    const created = await world.api('POST', '/apps', { token, body: JSON.stringify({ name, platform: 'nodejs' }) });
    expect(created.status, created.text).toBe(200);
  }
  const tree = await createWorkTree(nodeApp('shop'), ann);
  const pushed = await tree.push(sshUrl(world, 'shop'));
  expect(pushed.code, pushed.stderr).toBe(0);
  await tree.dispose();
});

afterAll(async () => {
  await world.dispose();
  await ann.dispose();
});

const runs = async (text: string): Promise<number> =>
  // Pods know no home.
  (await processesOf(world.cluster === null ? world.home : '')).filter(({ command }) => command.includes(text)).length;

interface Opened {
  readonly socket: WebSocket;
  text(): string;
  readonly closed: Promise<{ code: number; reason: string }>;
}

function open(path: string, authorization = `bearer ${token}`, protocols: string[] = []): Promise<Opened | number> {
  const url = `${world.apiUrl.replace('http', 'ws')}${path}`;
  const socket = new WebSocket(url, protocols, { headers: { authorization } });
  let text = '';
  socket.on('message', (data) => (text += (data as Buffer).toString()));
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve({ socket, text: () => text, closed }));
    socket.once('unexpected-response', (_request, response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    socket.once('error', reject);
  });
}

async function opened(path: string, protocols: string[] = []): Promise<Opened> {
  const shell = await open(path, undefined, protocols);
  if (typeof shell === 'number') throw new Error(`answered ${shell}`);
  return shell;
}

it('is what clients of this API find at the websocket', async () => {
  const shell = await opened('/1.6/apps/shop/shell?height=24&term=xterm&width=80&isolated=false');
  shell.socket.send('echo "ru"ns in $TANCHO_APP on $(stty size)\r');
  await until(async () => shell.text().includes('runs in shop on 24 80'), {
    what: 'the shell to answer',
  });
  shell.socket.send('exit 7\r');
  expect(await shell.closed).toEqual({ code: 1000, reason: 'exit 7' });
  const { text: log } = await world.api('GET', '/apps/shop/log?lines=20&source=tancho', { token });
  expect(log).toContain('opened a shell');
});

it('shows nothing while its client asks for that, and all of it afterwards', async () => {
  const shell = await opened('/apps/shop/shell?terminal=false', ['tancho.shell.1']);
  shell.socket.send(JSON.stringify({ hold: true }));
  shell.socket.send(Buffer.from('echo he""ld; sleep 98765\n'));
  await until(async () => (await runs('sleep 98765')) > 0, { what: 'the command to be at its second part' });
  const answered = new Promise((resolve) => shell.socket.once('pong', resolve));
  shell.socket.ping();
  await answered;
  expect(shell.text()).not.toContain('held');
  shell.socket.send(JSON.stringify({ hold: false }));
  await until(async () => shell.text().includes('held'), { what: 'what was held back' });
  shell.socket.close();
  await shell.closed;
});

it('is refused to everybody else, and says what is wrong', async () => {
  expect(await open('/apps/shop/shell', '')).toBe(401);
  expect(await open('/apps/shop/shell', 'bearer nonsense')).toBe(401);
  expect(await open('/apps/nowhere/shell')).toBe(404);
  const email = 'eve@example.com';
  const admin = await world.login();
  await world.api('POST', '/users', { token: admin, body: JSON.stringify({ email, password: 'secret12' }) });
  expect(await open('/apps/shop/shell', `bearer ${await world.login(email, 'secret12')}`)).toBe(403);
  const bare = await opened('/apps/bare/shell');
  expect(await bare.closed).toEqual({ code: 1011, reason: 'app.not_deployed' });
  expect(bare.text()).toMatch(/^Error: App must be available to run commands\r\n/);
  const nobody = await opened('/apps/shop/shell?unit=99');
  expect(await nobody.closed).toEqual({ code: 1011, reason: 'unit.not_found' });
  const plain = await world.api('GET', '/apps/shop/shell', { token });
  expect([plain.status, plain.headers['x-tancho-error']]).toEqual([400, 'input.invalid']);
});

it('leaves nothing behind when its client is cut off', async () => {
  const shell = await opened('/apps/shop/shell?unit=0');
  shell.socket.send('(setsid sleep 4321.5 &) ; echo "sta"rted on $PORT\r');
  await until(async () => /started on \d+/.test(shell.text()), { what: 'the command to run' });
  shell.socket.terminate();
  await until(async () => (await runs('4321.5')) === 0, { what: 'the processes to be gone' });
});

it('leaves plain HTTP to who offers another protocol', async () => {
  const body = JSON.stringify({ password: world.adminPassword });
  const headers = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQAAP__' };
  const answer = await world.api('POST', `/users/${world.adminEmail}/tokens`, { body, headers });
  expect([answer.status, answer.text], answer.text).toEqual([200, expect.stringContaining('token')]);
  expect(
    (await world.api('GET', '/apps', { token, headers: { connection: 'Upgrade', upgrade: 'websocket' } })).status,
  ).toBe(200);
});

it('works from the command line, with and without a terminal, and reports its exit code', async () => {
  const piped = await world.cli(['app', 'shell', '-a', 'shop'], { input: 'echo "pi"ped $TANCHO_APP; exit 4\n' });
  expect([piped.code, piped.stdout], piped.stderr).toEqual([4, expect.stringContaining('piped shop')]);
  const ended = await world.cli(['app', 'shell', '-a', 'shop'], { input: 'true\n' });
  expect(ended.code, ended.stdout + ended.stderr).toBe(0);
  const wrong = await world.cli(['app', 'shell', '42', '-a', 'shop']);
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('unit "42" not found')]);
  const child = spawn(
    'script',
    ['-qec', `stty cols 91 rows 29; exec ${process.execPath} ${world.program} app shell -a shop`, '/dev/null'],
    {
      env: { PATH: process.env['PATH'], HOME: world.home, TANCHO_HOME: world.home, TERM: 'xterm' },
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  let shown = '';
  child.stdout.on('data', (data: Buffer) => (shown += data.toString()));
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve));
  await until(async () => shown.includes('$ ') || shown.includes('# '), {
    what: 'a prompt',
    detail: () => shown,
  });
  child.stdin.write('stty size; sleep 5431.5\r');
  await until(async () => shown.includes('29 91'), { what: 'its size', detail: () => shown });
  // Between two commands Ctrl-C may end neither.
  await until(async () => (await runs('5431.5')) > 0, { what: 'the command to run' });
  child.stdin.write('\u0003');
  child.stdin.write('exit 6\r');
  expect(await exit, shown).toBe(6);
});

it('ends with the platform', async () => {
  const shell = await opened('/apps/shop/shell');
  await world.end('SIGTERM');
  expect((await shell.closed).code).toBe(1001);
  await world.startAgain();
  const again = await opened('/apps/shop/shell');
  again.socket.send('sleep 5432.5\r');
  await until(async () => (await runs('5432.5')) > 0, { what: 'the command to run' });
  await world.end('SIGKILL');
  await until(async () => (await runs('5432.5')) === 0, { what: 'the processes to be gone' });
  await world.startAgain();
});
