import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CliWorld } from '../../test/support/cli-world.ts';
import { empty, json, type Reply, startPlatform, stream } from '../../test/support/scripted-platform.ts';

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

describe('administration', () => {
  it.each<[string[], string, Reply, object | null, RegExp]>([
    [
      ['plan', 'create', 'small', '-m', '64M', '-c', '250', '--disk', '2G'],
      'POST /plans',
      empty,
      { name: 'small', memory: '64M', cpumilli: '250', disk: '2G', default: false },
      /^Plan small created\.$/,
    ],
    [['plan', 'remove', 'small'], 'DELETE /plans/small', empty, null, /^Plan small removed\.$/],
    [['platform', 'disable', 'go'], 'PUT /platforms/go?disabled=true', stream(), null, /^Platform go disabled\.$/],
    [['platform', 'enable', 'go'], 'PUT /platforms/go?disabled=false', stream(), null, /^Platform go enabled\.$/],
    [['platform', 'remove', 'sh'], 'DELETE /platforms/sh', empty, null, /^Platform sh removed\.$/],
    [['pool', 'update', 'p', '--no-public'], 'PUT /pools/p', empty, { public: false }, /^Pool p changed\.$/],
    [
      ['pool', 'create', 'p', '--engine', 'cluster', '--option', 'namespace=apps', 'node=a=b'],
      'POST /pools',
      empty,
      { name: 'p', engine: 'cluster', options: { namespace: 'apps', node: 'a=b' } },
      /^Pool p created\.$/,
    ],
    [['user', 'admin', 'bob@b.cc'], 'PUT /users/bob%40b.cc/admin', empty, null, /bob@b\.cc is an admin now/],
    [['user', 'admin', 'bob@b.cc', '--revoke'], 'DELETE /users/bob%40b.cc/admin', empty, null, /no longer an admin/],
    [['app', 'update', 'shop', '--plan', 'small'], 'POST /apps/shop/plan', stream(), { plan: 'small' }, /changed/],
    [
      ['app', 'update', 'shop', '--start-command', 'A=1 node .', 'worker=node w', '--keep-dev-packages', 'yes'],
      'PUT /apps/shop',
      empty,
      { startCommands: { web: 'A=1 node .', worker: 'node w' }, keepDevPackages: true },
      /changed/,
    ],
    [['app', 'unlock', 'shop'], 'DELETE /apps/shop/lock', empty, null, /^Nobody works on shop\.$/],
    [
      ['app', 'routes', 'shop'],
      'POST /apps/shop/routes',
      json({ Added: ['http://127.0.0.1:1'], Removed: [] }),
      null,
      /^Added http:\/\/127\.0\.0\.1:1$/,
    ],
    [['app', 'token-revoke', 'shop', '--id', 'abc'], 'DELETE /apps/shop/tokens/abc', empty, null, /token abc of shop/],
  ])('%j', async (argv, line, reply, body, text) => {
    const { code, out, err, lines, asked } = await against({ [line.split('?')[0] ?? '']: reply }, argv);
    expect({ code, err, lines }).toEqual({ code: 0, err: '', lines: [line] });
    expect(out.trim()).toMatch(text);
    if (body !== null) expect(JSON.parse(asked[0]?.body ?? '')).toEqual(body);
  });

  it('lists plans in units for people', async () => {
    const plan = { swap: 0, cpushare: 100, disk: 0, default: false };
    const list = [
      { ...plan, name: 'default', memory: 0, cpumilli: 0, default: true },
      { ...plan, name: 'small', memory: 67108864, cpumilli: 250, disk: 2 * 1024 ** 3 },
    ];
    const { out } = await against({ 'GET /plans': json(list) }, ['plan', 'list']);
    expect(out).toMatch(/^default +yes +no limit +no limit +as set\nsmall +64 MiB +0\.25 +2\.0 GiB$/m);
  });

  it('lists the tokens of an app', async () => {
    const token = { Id: 'abc', AppName: 'shop', CreatedBy: 'ann@b.cc', CreatedAt: 'c', ExpiresAt: 'e' };
    const { out } = await against({ 'GET /apps/shop/tokens': json([token]) }, ['app', 'token-list', 'shop']);
    expect(out).toMatch(/^abc +ann@b\.cc +c +e$/m);
    expect((await against({ 'GET /apps/shop/tokens': json([]) }, ['app', 'token-list', 'shop'])).out).toMatch(
      /has no tokens/,
    );
  });

  it('reads the definition of a platform from a file', async () => {
    writeFileSync(join(world.work, 'ruby.yaml'), 'description: Ruby\n');
    const replies = { 'POST /platforms': stream({ Message: 'added\n' }), 'PUT /platforms/ruby': stream() };
    const added = await against(replies, ['platform', 'add', 'ruby', 'ruby.yaml']);
    expect([added.code, added.out]).toEqual([0, 'added\nTo make an app for it: tancho app create <name> ruby\n']);
    expect([added.lines, added.asked[0]?.body]).toEqual([['POST /platforms?name=ruby'], 'description: Ruby\n']);
    const updated = await against(replies, ['platform', 'update', 'ruby', 'ruby.yaml']);
    expect([updated.lines, updated.asked[0]?.body]).toEqual([['PUT /platforms/ruby'], 'description: Ruby\n']);
    const missing = await against(replies, ['platform', 'add', 'ruby', 'no-such.yaml']);
    expect([missing.code, missing.lines]).toEqual([1, []]);
    expect(missing.err).toContain('no-such.yaml cannot be read');
  });

  it('pool update wants something to change', async () => {
    expect(await against({}, ['pool', 'update', 'p'])).toMatchObject({ code: 2, lines: [] });
    expect(await against({}, ['pool', 'update', 'p', '--option', 'x'])).toMatchObject({ code: 2, lines: [] });
  });
});
