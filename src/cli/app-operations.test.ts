import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CliWorld } from '../../test/support/cli-world.ts';
import { empty, json, problem, type Reply, startPlatform, stream } from '../../test/support/scripted-platform.ts';

let world: CliWorld;
const closers: (() => Promise<void>)[] = [];
beforeEach(() => {
  world = new CliWorld();
});
afterEach(async () => {
  world.dispose();
  for (const close of closers.splice(0)) await close();
});

async function against(replies: Readonly<Record<string, Reply>>, argv: readonly string[]) {
  const platform = await startPlatform(replies);
  closers.push(platform.close);
  const env = { TANCHO_TARGET: platform.url, TANCHO_TOKEN: 'tok' };
  return { ...(await world.run(argv, { env })), asked: platform.asked, lines: platform.lines() };
}

describe('operations on an app', () => {
  it.each<[string[], string, Reply, RegExp]>([
    [['app', 'stop', 'shop'], 'POST /apps/shop/stop', stream({ Message: 'going\n' }), /^going\nApp shop stopped\.$/],
    [
      ['app', 'start', '-a', 'shop', '-p', 'w'],
      'POST /apps/shop/start?process=w',
      stream(),
      /Process w of shop started/,
    ],
    [
      ['app', 'restart', 'shop', '-p', 'w'],
      'POST /apps/shop/restart?process=w',
      stream(),
      /Process w of shop restarted/,
    ],
    [['app', 'swap', 'a', 'b'], 'PUT /swap?app1=a&app2=b&force=false', empty, /^a and b have changed places\.$/],
    [
      ['app', 'swap', 'a', 'b', '--force', '--cname-only'],
      'PUT /swap?app1=a&app2=b&force=true&cnameOnly=true',
      empty,
      /^The extra host names of a and b/,
    ],
    [['app', 'remove', 'shop', '-y', '--force'], 'DELETE /apps/shop?force=true', stream(), /removed/],
    [
      ['unit', 'set', 'worker=0', '-a', 'shop'],
      'PUT /apps/shop/processes/worker/units?units=0',
      stream(),
      /^Units of shop set: worker=0\.$/,
    ],
    [['unit', 'add', '2', '-a', 'shop'], 'PUT /apps/shop/units?units=2', stream(), /^2 units added to shop\.$/],
    [
      ['unit', 'remove', '1', '-a', 'shop', '-p', 'clock'],
      'DELETE /apps/shop/units?units=1&process=clock',
      stream(),
      /^1 unit removed from shop\.$/,
    ],
    [['deploy', 'rollback', '-a', 'shop'], 'POST /apps/shop/deploy/rollback', stream(), /back at what served before/],
    [['deploy', 'rollback', 'v3', '-a', 'shop'], 'POST /apps/shop/deploy/rollback', stream(), /^shop is back at v3\.$/],
    [['app', 'grant', 'red', '-a', 'shop'], 'PUT /apps/shop/teams/red', empty, /^The team red has access to shop now/],
    [['app', 'revoke', 'red', '-a', 'shop'], 'DELETE /apps/shop/teams/red', empty, /no longer has access/],
    [['app', 'update', 'shop', '--pool', 'p', '-t', 'red'], 'PUT /apps/shop', empty, /^App shop changed\.$/],
    [['app', 'list', '-t', 'red', '--name', 'a'], 'GET /apps?name=a&teamOwner=red', json([]), /^NAME/],
    [['pool', 'create', 'p', '--public'], 'POST /pools', empty, /^Pool p created\.$/],
    [['pool', 'remove', 'p'], 'DELETE /pools/p', empty, /^Pool p removed\.$/],
    [['pool', 'team-add', 'p', 'a', 'b'], 'POST /pools/p/team?team=a&team=b', empty, /open to a, b now/],
    [['pool', 'team-remove', 'p', 'a'], 'DELETE /pools/p/team?team=a', empty, /closed to a now/],
    [['cname', 'add', 'a.io', 'b.io', '-a', 'shop'], 'POST /apps/shop/cname', empty, /answers at a\.io, b\.io now/],
    [['cname', 'remove', 'a.io', '-a', 'shop'], 'DELETE /apps/shop/cname', empty, /no longer answers at a\.io/],
  ])('%j', async (argv, line, reply, text) => {
    const { code, out, err, lines } = await against({ [line.split('?')[0] ?? '']: reply }, argv);
    expect({ code, err, lines }).toEqual({ code: 0, err: '', lines: [line] });
    expect(out.trim()).toMatch(text);
  });

  it('say why they are refused, and what to do', async () => {
    const hint = 'To swap them all the same, add force=true (--force).';
    const refusal = problem(412, 'app.swap_mismatch', "platforms don't match", hint);
    const { code, err } = await against({ 'PUT /swap': refusal }, ['app', 'swap', 'a', 'b']);
    expect(code).toBe(1);
    expect(err).toMatch(/platforms don't match\n {2}Hint: .*--force/);
  });

  it.each(['0', '-1', '1.5', 'many'])('take a number of units, not %s', async (count) => {
    const { code, lines } = await against({}, ['unit', 'add', '-a', 'shop', '--', count]);
    expect({ code, lines }).toEqual({ code: 2, lines: [] });
  });

  it('deploy list marks what can be gone back to', async () => {
    const deploy = { ID: 'd1', App: 'shop', Timestamp: '', Duration: 0, Commit: 'c0ffee', Error: '', State: 'done' };
    const list = [
      { ...deploy, Release: 2, CanRollback: false },
      { ...deploy, ID: 'd0', Release: 1, CanRollback: true },
    ];
    const { out } = await against({ 'GET /deploys': json(list) }, ['deploy', 'list', '-a', 'shop']);
    expect(out).toMatch(/^d1 +shop +v2 +0ms/m);
    expect(out).toMatch(/^d0 +shop +v1 \* +0ms/m);
  });

  it('pool list shows who may use them', async () => {
    const list = [
      { Name: 'default', Teams: [], Public: true, Default: true, Engine: 'process', Options: {} },
      {
        Name: 'south',
        Teams: ['red'],
        Public: false,
        Default: false,
        Engine: 'cluster',
        Options: { namespace: 'apps' },
      },
    ];
    const { out } = await against({ 'GET /1.0/pools': json(list) }, ['pool', 'list']);
    expect(out).toMatch(/^default +yes +all +process\nsouth +red +cluster namespace=apps$/m);
  });

  it('app update wants something to change', async () => {
    expect(await against({}, ['app', 'update', 'shop'])).toMatchObject({ code: 2, lines: [] });
  });

  it('unit list shows the units', async () => {
    const app = { Name: 'shop', Units: [{ Name: 'shop/0', ProcessName: 'web', State: 'started', Ip: '127.0.0.1' }] };
    const { out } = await against({ 'GET /apps/shop': json(app) }, ['unit', 'list', '-a', 'shop']);
    expect(out).toMatch(/^shop\/0 +web +started +127\.0\.0\.1$/m);
  });
});
