/** Stopping in the middle of everything: a push, a command, a followed log, open requests. It ends soon, and nobody hangs. */
import { spawn } from 'node:child_process';
import http from 'node:http';
import net from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  allowPush,
  createIdentity,
  createWorkTree,
  type Identity,
  nodeApp,
  sshUrl,
  type WorkTree,
} from '../support/git.ts';
import { allGone, processesOf } from '../support/processes-of.ts';
import { until } from '../support/until.ts';
import { type Ran, startWorld, type World } from '../support/world.ts';

let world: World;
let ann: Identity;
let token: string;
let work: WorkTree;

beforeAll(async () => {
  world = await startWorld({ env: { TANCHO_UNITS_STOP_GRACE: '1s' } });
  ann = await createIdentity();
  token = await allowPush(world, ann);
  await world.api('POST', '/apps', { token, body: JSON.stringify({ name: 'slow', platform: 'nodejs' }) });
  work = await createWorkTree(slowApp(), ann);
  const pushed = await work.push(sshUrl(world, 'slow'));
  expect(pushed.code, pushed.stderr).toBe(0);
});

afterAll(async () => {
  await work.dispose();
  await world.dispose();
  await ann.dispose();
});

/** Answers at `/`, and never elsewhere; keeps upgraded connections open; ignores TERM. */
function slowApp(): Record<string, string> {
  return {
    ...nodeApp(''),
    'tancho.yaml': 'healthcheck:\n  path: /\n',
    'server.js': `process.on('SIGTERM', () => console.log('no, thank you'));
const server = require('node:http').createServer((req, res) => { if (req.url === '/') res.end('fine'); });
server.on('upgrade', (req, socket) => {
  socket.on('error', () => {});
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: echo\\r\\n\\r\\n');
});
server.listen(process.env.PORT);
`,
  };
}

interface Busy {
  readonly push: Promise<Ran>;
  readonly run: Promise<Ran>;
  /** The signal that ended the one who follows the log. */
  readonly follow: Promise<string | null>;
  /** Ends the requests to the app. */
  hangUp(): void;
  end(): void;
}

/** Everything at once; resolves when all of it is on its way. */
async function makeBusy(): Promise<Busy> {
  await work.write({ 'tancho.yaml': 'hooks:\n  build:\n    - echo building for long && sleep 60\n' });
  await work.commit();
  const push = work.push(sshUrl(world, 'slow'));
  const run = world.cli(['app', 'run', '-a', 'slow', '--', 'echo running; sleep 60']);
  const follower = spawn(process.execPath, [world.program, 'app', 'log', '-a', 'slow', '-f', '-n', '1'], {
    env: { PATH: process.env['PATH'] ?? '', HOME: world.home, TANCHO_HOME: world.home },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let followed = '';
  follower.stdout.on('data', (data: Buffer) => (followed += data.toString()));
  const follow = new Promise<string | null>((resolve) => follower.once('exit', (_code, ended) => resolve(ended)));
  const [host = '', port = ''] = world.edge.split(':');
  const open = http.get({ host, port: Number(port), path: '/never', headers: { host: 'slow.localhost' } });
  open.on('error', () => undefined);
  const upgraded = net.connect(Number(port), host);
  upgraded.on('error', () => undefined);
  upgraded.write('GET /ws HTTP/1.1\r\nHost: slow.localhost\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
  await new Promise((resolve) => upgraded.once('data', resolve));
  const hangUp = (): void => {
    // A reset: after a plain end the edge still waits a while for the answer, as a client may.
    open.socket?.resetAndDestroy();
    upgraded.resetAndDestroy();
  };
  const sleeping = async (): Promise<number> =>
    (await processesOf(world.home)).filter(({ command }) => /^sleep 60/.test(command)).length;
  await until(async () => followed !== '' && (await sleeping()) >= 2, {
    what: 'the build, the command and the log to be on their way',
  });
  return {
    push,
    run,
    follow,
    hangUp,
    end() {
      hangUp();
      follower.kill('SIGKILL');
    },
  };
}

async function deploysOfSlow(): Promise<{ State: string; Cause: string }[]> {
  return (await world.api('GET', '/deploys?app=slow', { token })).json();
}

describe.each(['SIGTERM', 'SIGINT'] as const)('%s in the middle of a push, a command and open requests', (signal) => {
  it('ends the server soon, and informs everybody', async () => {
    const mine = await processesOf(world.home);
    const busy = await makeBusy();
    // While the apps live on their open requests are given time to end, which is not what this is about.
    if (signal === 'SIGTERM') busy.hangUp();
    try {
      await world.end(signal);
      // A followed log goes on with the next server.
      const [pushed, ran] = await Promise.all([busy.push, busy.run]);
      expect(pushed.code).toBe(1);
      expect(pushed.stderr).toMatch(/The platform is being stopped\..* Push again when it is back\./);
      expect(pushed.stderr).toContain('Deploy cancelled: The platform is being stopped.');
      expect(ran.code).not.toBe(0);
      expect(ran.stderr).toMatch(/^Error: .*\n( {2}Hint: .*\n)?$/);
      busy.end();
      expect(await busy.follow).toBe('SIGKILL');
      const left = await processesOf(world.home);
      expect(left.filter(({ command }) => command.startsWith('sleep'))).toEqual([]);
      if (signal === 'SIGINT') {
        await allGone(mine);
        expect(left).toEqual([]);
      } else expect(left.length).toBeGreaterThan(0);
    } finally {
      busy.end();
    }
    await world.startAgain();
    await until(async () => (await world.fetchApp('slow')).text === 'fine', {
      what: 'the app to be back',
    });
    const deploys = await deploysOfSlow();
    expect(deploys.every(({ State }) => State === 'done' || State === 'cancelled')).toBe(true);
    expect(deploys[0]).toMatchObject({
      State: 'cancelled',
      Cause: 'cancelled',
    });
  });
});

it('the next push works', async () => {
  await work.write(nodeApp('again'));
  await work.write({ 'tancho.yaml': null });
  await work.commit();
  const pushed = await work.push(sshUrl(world, 'slow'));
  expect(pushed.code, pushed.stderr).toBe(0);
  expect((await world.fetchApp('slow')).text).toBe('again');
});
