import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CliWorld, type RunOptions } from '../../test/support/cli-world.ts';
import { empty, json, problem, type Reply, startPlatform } from '../../test/support/scripted-platform.ts';

let world: CliWorld;
const closers: (() => Promise<void>)[] = [];
beforeEach(() => {
  world = new CliWorld();
});
afterEach(async () => {
  world.dispose();
  for (const close of closers.splice(0)) await close();
});

async function against(replies: Readonly<Record<string, Reply>>, argv: readonly string[], options: RunOptions = {}) {
  const platform = await startPlatform(replies);
  closers.push(platform.close);
  const env = { TANCHO_TARGET: platform.url, TANCHO_TOKEN: 'tok', ...options.env };
  const ran = await world.run(argv, { ...options, env });
  return { ...ran, asked: platform.asked, lines: platform.lines() };
}

const me = { 'GET /users/info': json({ Email: 'ann@b.cc', Teams: [] }) };

describe('user', () => {
  it('password sends the first two lines of standard input', async () => {
    const replies = { 'PUT /users/password': empty };
    const { code, asked, out } = await against(replies, ['user', 'password'], { stdin: 'old secret\nnew secret\n' });
    expect(JSON.parse(asked[0]?.body ?? '')).toEqual({ old: 'old secret', new: 'new secret' });
    expect([code, out]).toEqual([0, 'Password changed. Other logins of yours have ended.\n']);
    const missing = await against(replies, ['user', 'password'], { stdin: 'old secret\n' });
    expect([missing.code, missing.lines]).toEqual([2, []]);
  });

  it('password says what is wrong with the old one', async () => {
    const replies = { 'PUT /users/password': problem(403, 'user.password_mismatch', 'No match.') };
    const { code, err } = await against(replies, ['user', 'password'], { stdin: 'a\nb\n' });
    expect([code, err]).toEqual([1, expect.stringMatching(/^Error: No match\./)]);
  });

  it('reset has a token mailed, then sets the password with it', async () => {
    const replies = { 'POST /users/ann%40b.cc/password': empty };
    const first = await against(replies, ['user', 'reset', 'ann@b.cc']);
    expect([first.lines, first.asked[0]?.body]).toEqual([['POST /users/ann%40b.cc/password'], '']);
    expect(first.out).toContain('tancho user reset ann@b.cc --token <token>');
    const second = await against(replies, ['user', 'reset', 'ann@b.cc', '--token', 't'], { stdin: 'new secret\n' });
    expect(second.lines).toEqual(['POST /users/ann%40b.cc/password?token=t']);
    expect(JSON.parse(second.asked[0]?.body ?? '')).toEqual({ password: 'new secret' });
    const random = await against(replies, ['user', 'reset', 'ann@b.cc', '--token', 't', '--random']);
    expect([random.asked[0]?.body, random.out]).toEqual(['{}', 'A new password was mailed to ann@b.cc.\n']);
    expect((await against(replies, ['user', 'reset', 'ann@b.cc', '--random'])).code).toBe(2);
  });

  it('remove names who goes, and needs a yes', async () => {
    const replies = { ...me, 'DELETE /users': empty };
    expect((await against(replies, ['user', 'remove'])).code).toBe(2);
    const own = await against(replies, ['user', 'remove', '--yes']);
    expect(own.lines).toEqual(['GET /users/info', 'DELETE /users?user=ann%40b.cc']);
    const other = await against(replies, ['user', 'remove', 'bob@b.cc', '--yes']);
    expect(other.lines).toEqual(['DELETE /users?user=bob%40b.cc']);
  });

  it('list shows who is an admin', async () => {
    const users = [
      { Email: 'ann@b.cc', Teams: ['red', 'blue'], Admin: true },
      { Email: 'bob@b.cc', Teams: [], Admin: false },
    ];
    const { out } = await against({ 'GET /users': json(users) }, ['user', 'list']);
    expect(out).toBe('E-MAIL    ADMIN  TEAMS\nann@b.cc  yes    red, blue\nbob@b.cc\n');
  });

  it('quota shows and sets the limit', async () => {
    const quota = { 'GET /users/ann%40b.cc/quota': json({ limit: -1, inuse: 2 }) };
    const shown = await against({ ...me, ...quota }, ['user', 'quota']);
    expect(shown.out).toBe('User:   ann@b.cc\nApps:   2\nLimit:  none\n');
    const replies = { ...quota, 'PUT /users/ann%40b.cc/quota': empty };
    const set = async (limit: string) => {
      const { asked } = await against(replies, ['user', 'quota', 'ann@b.cc', '--limit', limit]);
      return asked[0]?.body;
    };
    expect([await set('5'), await set('none')]).toEqual(['{"limit":5}', '{"limit":-1}']);
    expect((await against(replies, ['user', 'quota', 'ann@b.cc', '--limit', 'many'])).code).toBe(2);
  });
});

describe('token', () => {
  it('prints the key and nothing else', async () => {
    const replies = {
      'GET /users/api-key': json({ token: 'abc', users: 'ann@b.cc' }),
      'POST /users/api-key': json('def'),
    };
    expect((await against(replies, ['token', 'show'])).out).toBe('abc\n');
    expect((await against(replies, ['token', 'regenerate'])).out).toBe('def\n');
    expect(JSON.parse((await against(replies, ['token', 'regenerate', '--json'])).out)).toEqual({ token: 'def' });
  });
});

describe('app', () => {
  it('token-create prints the token, and exports it when asked', async () => {
    const made = { Token: 'abc', Creation: '2024/05/06', Expires: 1, AppName: 'shop' };
    const replies = { 'POST /tokens': json(made), 'DELETE /tokens': empty };
    const plain = await against(replies, ['app', 'token-create', 'shop']);
    expect([plain.out, plain.asked[0]?.body]).toEqual(['abc\n', '{"client":"shop","export":false}']);
    const exported = await against(replies, ['app', 'token-create', '-a', 'shop', '--export']);
    expect(exported.asked[0]?.body).toBe('{"client":"shop","export":true}');
    const revoked = await against(replies, ['app', 'token-revoke', '-a', 'shop', '--yes']);
    expect(revoked.lines).toEqual(['DELETE /tokens?client=shop']);
  });

  it('quota shows and sets the limit', async () => {
    const replies = { 'GET /apps/shop/quota': json({ limit: 4, inuse: 1 }), 'PUT /apps/shop/quota': empty };
    const { out, asked } = await against(replies, ['app', 'quota', 'shop', '--limit', '4']);
    expect(asked[0]?.body).toBe('{"limit":4}');
    expect(out).toBe('App:    shop\nUnits:  1\nLimit:  4\n');
  });
});
