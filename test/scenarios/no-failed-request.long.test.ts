/** Under steady load nobody notices that an app is pushed, mispushed, restarted and given variables. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { allowPush, createIdentity, type Identity, nodeApp, pushedApp, sshUrl, type WorkTree } from '../support/git.ts';
import { createLoad } from '../support/load.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from '../support/world.ts';

const PUSHES = 10;
const CHANGES = PUSHES / 2;

let world: World;
let ann: Identity;
let token: string;
let work: WorkTree;

beforeAll(async () => {
  world = await startWorld();
  ann = await createIdentity();
  token = await allowPush(world, ann);
  work = await pushedApp(world, { name: 'busy', files: versionApp('version 0'), identity: ann, token });
});

afterAll(async () => {
  // What the preparation has not come to make is not there.
  const made: readonly ({ dispose(): Promise<unknown> } | undefined)[] = [work, world, ann];
  for (const one of made) await one?.dispose();
});

/** Every third answer takes a while, so that switches happen in the middle of answers; half of an answer is sent at once. */
function versionApp(text: string): Record<string, string> {
  const [first = '', rest = ''] = [text.slice(0, 4), text.slice(4)];
  return {
    ...nodeApp(''),
    'server.js': `let asked = 0;
require('node:http').createServer((req, res) => {
  res.write(${JSON.stringify(first)});
  setTimeout(() => res.end(${JSON.stringify(rest)}), ++asked % 3 === 0 ? 80 : 0);
}).listen(process.env.PORT);
`,
  };
}

const BROKEN: readonly Record<string, string>[] = [
  { 'server.js': 'console.log("broken"); process.exit(1);\n' },
  { 'tancho.yaml': 'hooks:\n  build:\n    - exit 3\n' },
];

interface DeployAnswer {
  readonly State: string;
  readonly Cause: string;
  readonly FailedRequests: number;
}

it(`${PUSHES} pushes, every other one broken, and ${CHANGES} changes of variables fail no request`, async () => {
  const load = createLoad(world, 'busy', 6);
  await load.reached(50);
  const served = ['version 0'];
  for (let n = 1; n <= PUSHES; n++) {
    const isBroken = n % 2 === 0;
    await work.write({ 'tancho.yaml': null, ...versionApp(`version ${n}`), ...(isBroken ? BROKEN[(n / 2) % 2] : {}) });
    await work.commit(`version ${n}`);
    const pushed = await work.push(sshUrl(world, 'busy'));
    expect(pushed.code === 0, pushed.stderr).toBe(!isBroken);
    if (!isBroken) served.push(`version ${n}`);
    expect((await world.fetchApp('busy')).text).toBe(served.at(-1));
    if (!isBroken) continue;
    const body = JSON.stringify({ GREETING: `after push ${n}` });
    const set = await world.api('POST', '/apps/busy/env', { token, body });
    expect([set.status, set.text.includes('"Error"')], set.text).toEqual([200, false]);
    expect((await world.fetchApp('busy')).text).toBe(served.at(-1));
  }
  const { requests, failures, texts } = await load.stop();
  console.log(`${requests} requests, ${failures.length} failed`);
  expect(failures).toEqual([]);
  expect([...texts].filter((text) => !served.includes(text))).toEqual([]);

  const list = async (): Promise<DeployAnswer[]> =>
    (await world.api('GET', '/deploys?app=busy&limit=50', { token })).json<DeployAnswer[]>();
  await until(async () => (await list()).every(({ State }) => State === 'done' || State === 'failed'), {
    what: 'every deploy to be over',
  });
  const deploys = await list();
  expect(deploys.map((deploy) => deploy.Cause).sort()).toEqual([
    ...Array.from({ length: 1 + PUSHES / 2 }, () => ''),
    ...Array.from({ length: Math.ceil(CHANGES / 2) }, () => 'build_failed'),
    ...Array.from({ length: Math.floor(CHANGES / 2) }, () => 'exited'),
  ]);
  expect(deploys.map((deploy) => deploy.FailedRequests)).toEqual(deploys.map(() => 0));
});
