import { expect, it } from 'vitest';
import { memoryUseCases } from '../../test/support/memory-api.ts';
import type { UserCaller } from './caller.ts';
import { isPlatformError } from './errors.ts';
import { MOST } from './bounds.ts';

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILNnqrzPHDNA2iqnq9+RoPsrkJB9rOuo2oOali77XDD5';
const at = '2026-01-02T03:04:05.678Z';

function world() {
  const { store, useCases } = memoryUseCases(() => new Date(at));
  const callerOf = async (name: string, isAdmin = false): Promise<UserCaller> => {
    const email = `${name}@example.com`;
    await store.transact((tx) => tx.insertUser({ email, passwordHash: '', isAdmin, createdAt: at }));
    return { kind: 'user', email, isAdmin, teams: [], via: 'session', tokenHash: '', address: '' };
  };
  return { store, useCases, callerOf };
}

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    (error: unknown) => (isPlatformError(error) ? error.code : String(error)),
  );

it('bounds the SSH keys of a user; one may still take the place of another', async () => {
  const { store, useCases, callerOf } = world();
  const ann = await callerOf('ann');
  const { email } = ann;
  await store.transact(async (tx) => {
    for (let n = 0; n < MOST.sshKeysOfUser; n++)
      await tx.insertSshKey({ email, name: `k${n}`, fingerprint: `SHA256:${n}`, key: '', createdAt: at });
  });
  expect(await codeOf(useCases.users.addKey(ann, { key: KEY }))).toBe('quota.exceeded');
  expect(await codeOf(useCases.users.addKey(ann, { key: KEY, name: 'k7', force: true }))).toBe('ok');
  expect(await store.sshKeys(email)).toHaveLength(MOST.sshKeysOfUser);
});

it('bounds the teams of a user, whoever adds to them, and no admin', async () => {
  const { useCases, callerOf } = world();
  const { teams } = useCases;
  const [ann, bob, root] = [await callerOf('ann'), await callerOf('bob'), await callerOf('root', true)];
  for (let n = 0; n < MOST.teamsOfUser; n++) await teams.create(ann, `ann-${n}`);
  expect(await codeOf(teams.create(ann, 'more'))).toBe('quota.exceeded');
  await teams.create(bob, 'bobs');
  const inBobs = { ...bob, teams: ['bobs'] };
  expect(await codeOf(teams.addMember(inBobs, 'bobs', ann.email))).toBe('quota.exceeded');
  await teams.remove({ ...ann, teams: ['ann-0'] }, 'ann-0');
  expect(await codeOf(teams.addMember(inBobs, 'bobs', ann.email))).toBe('ok');
  for (let n = 0; n <= MOST.teamsOfUser; n++) await teams.create(root, `root-${n}`);
  expect(await teams.list(bob)).toMatchObject([{ name: 'bobs' }]);
});
