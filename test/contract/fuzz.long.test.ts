/** The fuzz of the contract; with the built program, its canary and its git: scenarios/fuzz.test.ts. */
import { access } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { randomHex } from '../../src/lib/ids.ts';
import { fuzzChecks } from './fuzz.ts';
import { type OpenTarget, openTarget } from './open-target.ts';
import type { Target } from './target.ts';

/** Wrong passwords make a running server refuse this machine for a while. */
const THROTTLED = ['users.login', 'auth.login', 'users.change_password', 'users.reset_password'];
const except =
  inject('contractServer').baseUrl === ''
    ? {}
    : Object.fromEntries(THROTTLED.map((id) => [id, 'wrong passwords would lock this machine out']));

const canary = join(tmpdir(), `tancho-canary-${randomHex(8)}`);
let open: OpenTarget | undefined;
beforeAll(async () => {
  open = await openTarget();
});
afterAll(() => open?.dispose());

fuzzChecks(
  (): Target => {
    if (open === undefined) throw new Error('There is no server to ask.');
    return open.target;
  },
  { canary, except, texts: 4 },
);

it('no canary has come to be', async () => {
  await expect(access(canary)).rejects.toMatchObject({ code: 'ENOENT' });
});
