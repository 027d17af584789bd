import { describe, expect, it } from 'vitest';
import { AT_ONCE } from '../domain/at-once.ts';
import type { Caller } from '../domain/caller.ts';
import { GitTurns } from './git-turns.ts';

const user = (email: string): Caller => ({
  ...{ kind: 'user', email, isAdmin: false, teams: [], via: 'ssh-key', tokenHash: '', address: '192.0.2.1' },
});
const EVE = user('eve@example.com');
/** A token of an app that Eve has made. */
const TOKEN: Caller = { kind: 'app', app: 'bad', by: 'eve@example.com', tokenHash: '', address: '192.0.2.2' };
const ALICE = user('alice@example.com');
const FETCH = { service: 'git-upload-pack' } as const;
const PUSH = { service: 'git-receive-pack' } as const;

describe('turns of git requests', () => {
  it('let what one user reads wait, however it comes, and others go on', async () => {
    const turns = new GitTurns();
    const ends = await Promise.all(
      Array.from({ length: AT_ONCE.fetches }, () => turns.begin({ caller: EVE, ...FETCH })),
    );
    let hasBegun = false;
    const waiting = turns.begin({ caller: TOKEN, ...FETCH }).then((end) => {
      hasBegun = true;
      return end;
    });
    (await turns.begin({ caller: ALICE, ...FETCH }))();
    (await turns.begin({ caller: EVE, ...PUSH }))();
    expect(hasBegun).toBe(false);
    ends[0]?.();
    (await waiting)();
  });

  it('refuse what one user pushes beyond the bound, and nobody else', async () => {
    const turns = new GitTurns();
    const push = (caller: Caller) => turns.begin({ caller, ...PUSH });
    const ends = await Promise.all(Array.from({ length: AT_ONCE.pushes }, () => push(EVE)));
    for (const caller of [EVE, TOKEN]) {
      await expect(push(caller)).rejects.toMatchObject({
        code: 'too_many_requests',
        message: 'Too many pushes of yours are under way already.',
      });
    }
    (await push(ALICE))();
    ends[0]?.();
    (await push(EVE))();
  });

  it('leave places for others, however many a few take', async () => {
    const turns = new GitTurns();
    for (const greedy of ['a', 'b', 'c', 'd', 'e', 'f']) {
      const caller = user(`${greedy}@example.com`);
      const pushes = Array.from({ length: AT_ONCE.pushes }, () => turns.begin({ caller, ...PUSH }));
      const begun = (await Promise.allSettled(pushes)).filter(({ status }) => status === 'fulfilled');
      expect(begun.length).toBeGreaterThan(1);
    }
    await turns.begin({ caller: ALICE, ...PUSH });
    await turns.begin({ caller: ALICE, ...FETCH });
  });

  it('refuse nobody who has waited, while there is a place at all', async () => {
    const turns = new GitTurns();
    const fetches = [ALICE, EVE, ...['a', 'b', 'c', 'd'].map((name) => user(`${name}@example.com`))];
    const begin = (caller: Caller) => turns.begin({ caller, ...FETCH });
    for (const caller of fetches) await Promise.all(Array.from({ length: 2 }, () => begin(caller)));
    const more = [];
    for (let n = 2; n < AT_ONCE.fetches; n += 1) more.push(await begin(ALICE));
    const waiting = Promise.all([begin(ALICE), begin(ALICE)]);
    for (let n = 0; n < 16; n += 1) await begin(user(`u${n}@example.com`));
    for (const end of more.slice(0, 2)) end();
    expect(await waiting).toHaveLength(2);
  });

  it('refuse what is too much for the machine', async () => {
    const turns = new GitTurns();
    const ends = await Promise.all(
      Array.from({ length: 64 }, (_, n) => turns.begin({ caller: user(`u${n}@x.y`), ...PUSH })),
    );
    await expect(turns.begin({ caller: ALICE, ...FETCH })).rejects.toMatchObject({ code: 'unavailable' });
    ends[0]?.();
    ends[0]?.();
    (await turns.begin({ caller: ALICE, ...FETCH }))();
  });
});
