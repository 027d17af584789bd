/** The life of an account with the command line only: a forgotten password, an API key, a limit, a farewell. */
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { letterIn } from '../support/outbox.ts';
import { startWorld, type World } from '../support/world.ts';

const EMAIL = 'ann@example.com';
let world: World;
beforeAll(async () => {
  world = await startWorld({ env: { TANCHO_QUOTAS_APPS_PER_USER: '1' } });
});
afterAll(() => world.dispose());

/** As the owner of the machine, or with somebody's token. */
async function tancho(args: readonly string[], more: { token?: string; input?: string } = {}): Promise<string> {
  const { token, input } = more;
  const as = token === undefined ? {} : { TANCHO_TARGET: world.apiUrl, TANCHO_TOKEN: token };
  const ran = await world.cli(args, { env: as, ...(input !== undefined && { input }) });
  expect(ran.code, `tancho ${args.join(' ')}\n${ran.stdout}${ran.stderr}`).toBe(0);
  return ran.stdout.trim();
}

describe('an account', () => {
  it('gets a new password through the outbox', async () => {
    await tancho(['user', 'create', EMAIL], { input: 'first secret\n' });
    await tancho(['user', 'reset', EMAIL]);
    const folder = path.join(world.home, 'mail');
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    const token = /--token ([0-9a-f]{64})$/m.exec(letterIn(world.home, EMAIL))?.[1] ?? '';
    await tancho(['user', 'reset', EMAIL, '--token', token], { input: 'second secret\n' });
    const session = await world.login(EMAIL, 'second secret');
    await tancho(['user', 'password'], { token: session, input: 'second secret\nthird secret\n' });
    await expect(world.login(EMAIL, 'third secret')).resolves.toMatch(/./);
    expect(await readdir(folder)).toHaveLength(1);
  });

  it('works with its API key, within its limit, until it goes', async () => {
    const session = await world.login(EMAIL, 'third secret');
    const key = await tancho(['token', 'show'], { token: session });
    await tancho(['team', 'create', 'crew'], { token: key });
    await tancho(['app', 'create', 'shop', 'static', '--no-remote'], { token: key });
    expect(await tancho(['user', 'quota'], { token: key })).toBe('User:   ann@example.com\nApps:   1\nLimit:  1');
    const create = ['app', 'create', 'blog', 'static', '--no-remote'];
    const env = { TANCHO_TARGET: world.apiUrl, TANCHO_TOKEN: key };
    const refused = await world.cli(create, { env });
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/Available: 0\. Requested: 1\./)]);
    await tancho(['user', 'quota', EMAIL, '--limit', '2']);
    await tancho(create, { token: key });
    const appToken = await tancho(['app', 'token-create', 'shop', '--export'], { token: key });
    expect(await tancho(['env', 'get', '-a', 'shop', '--reveal'], { token: appToken })).toBe(
      `TANCHO_APP_TOKEN=${appToken}`,
    );
    const stay = await world.cli(['user', 'remove', '--yes'], { env });
    expect(stay.stderr).toMatch(/owns apps and cannot be removed: blog, shop\./);
    for (const app of ['shop', 'blog']) await tancho(['app', 'remove', app, '--yes'], { token: key });
    await tancho(['team', 'remove', 'crew'], { token: key });
    const renewed = await tancho(['token', 'regenerate'], { token: key });
    await tancho(['user', 'remove', '--yes'], { token: renewed });
    expect(await tancho(['user', 'list'])).not.toContain(EMAIL);
  });

  it('leaves none of its secrets in the log of the server', async () => {
    const letter = letterIn(world.home, EMAIL);
    const token = /--token ([0-9a-f]{64})$/m.exec(letter)?.[1] ?? 'none';
    const folder = path.join(world.home, 'log');
    const names = await readdir(folder);
    expect(names).not.toEqual([]);
    for (const name of names) {
      const text = await readFile(path.join(folder, name), 'utf8');
      for (const secret of [token, 'second secret', 'third secret']) expect(text).not.toContain(secret);
    }
  });
});
