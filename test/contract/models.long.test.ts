/** Names, quotas, environments and memberships against small models, over HTTP: any order of any of these requests. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type OpenTarget, openTarget } from './open-target.ts';
import { type ApiAnswer, aPlatform, ask, login, somebody, type Somebody, somebodyWithApp, unique } from './target.ts';
import { rounds } from '../support/rounds.ts';

const RUNS = rounds(20, 80);
vi.setConfig({ testTimeout: 30_000 + RUNS * 300 });

let open: OpenTarget;
let admin: string;
beforeAll(async () => {
  open = await openTarget();
  admin = await login(open.target, open.target.adminEmail, open.target.adminPassword);
});
afterAll(() => open.dispose());

const call = (method: string, path: string, token: string, body?: object): Promise<ApiAnswer> =>
  ask(open.target, method, path, { token, ...(body && { body }) });
const verdict = ({ status, code }: ApiAnswer): string => code ?? String(status);

/** Mostly texts that are nearly names. */
const nearlyNames = fc.oneof(
  fc.stringMatching(/^[a-z][a-z0-9-]{0,70}$/),
  fc.string({ unit: fc.constantFrom(...'abzAZ09-_.@+ /é'), minLength: 0, maxLength: 66 }),
  fc.string({ unit: 'binary', maxLength: 8 }),
);

it('a name is taken exactly when it is one', async () => {
  const owner = await somebodyWithApp(open.target, admin);
  const platform = await aPlatform(open.target, owner.token);
  const kinds = [
    {
      path: '/apps',
      form: /^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
      rest: { platform, teamOwner: owner.team },
      code: 'app',
    },
    { path: '/teams', form: /^[a-zA-Z][-@_.+\w]{1,62}$/, rest: {}, code: 'team' },
  ];
  await fc.assert(
    fc.asyncProperty(nearlyNames, fc.constantFrom(...kinds), async (text, { path, form, rest, code }) => {
      // Blanks around a team's name are not part of it.
      const name = code === 'team' ? text.trim() : text;
      const answer = await call('POST', path, owner.token, { name: text, ...rest });
      const shown = await call(
        'GET',
        `${path}/${encodeURIComponent(name.replace(/\p{Surrogate}/gu, '_'))}`,
        owner.token,
      );
      if (!form.test(name)) {
        expect(verdict(answer)).toBe(`${code}.invalid_name`);
      } else if (verdict(answer) === '200') {
        expect(JSON.stringify(shown.json)).toContain(`"${name}"`);
        expect(verdict(await call('POST', path, owner.token, { name: text, ...rest }))).toBe(`${code}.name_taken`);
        expect(verdict(await call('DELETE', `${path}/${encodeURIComponent(name)}`, owner.token))).toBe('200');
      } else {
        // Short ones may be somebody's, or the platform's own.
        expect(verdict(answer)).toMatch(/name_taken$|invalid_name$/);
        if (verdict(answer).endsWith('invalid_name')) expect(answer.text).toContain('reserved');
      }
    }),
    { numRuns: RUNS * 3 },
  );
});

type QuotaStep =
  | { readonly kind: 'create'; readonly atOnce: number }
  | { readonly kind: 'remove' }
  | { readonly kind: 'limit'; readonly limit: number };

const quotaSteps: fc.Arbitrary<QuotaStep> = fc.oneof(
  fc.record({ kind: fc.constant('create' as const), atOnce: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ kind: fc.constant('remove' as const) }),
  fc.record({ kind: fc.constant('limit' as const), limit: fc.integer({ min: -1, max: 4 }) }),
);

it('a quota lets in exactly what has room, also when all come at once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(quotaSteps, { minLength: 1, maxLength: 7 }), async (steps) => {
      const owner = await somebodyWithApp(open.target, admin);
      const platform = await aPlatform(open.target, owner.token);
      const apps = new Set([owner.app]);
      let limit = -1;
      for (const step of steps) {
        if (step.kind === 'limit') {
          limit = step.limit;
          expect(verdict(await call('PUT', `/users/${owner.email}/quota`, admin, { limit }))).toBe('200');
        } else if (step.kind === 'remove') {
          const [app] = apps;
          if (app === undefined) continue;
          expect(verdict(await call('DELETE', `/apps/${app}`, owner.token))).toBe('200');
          apps.delete(app);
        } else {
          const names = Array.from({ length: step.atOnce }, () => unique('app-'));
          const room = limit < 0 ? step.atOnce : Math.max(0, Math.min(step.atOnce, limit - apps.size));
          const answers = await Promise.all(
            names.map((name) => call('POST', '/apps', owner.token, { name, platform, teamOwner: owner.team })),
          );
          const verdicts = answers.map(verdict);
          expect(verdicts.filter((one) => one === '200')).toHaveLength(room);
          expect(verdicts.filter((one) => one === 'quota.exceeded')).toHaveLength(step.atOnce - room);
          names.filter((_, index) => verdicts[index] === '200').forEach((name) => apps.add(name));
        }
        expect((await call('GET', `/quota/${owner.email}`, owner.token)).json).toEqual({
          items: apps.size,
          available: limit < 0 ? 2_147_483_647 : Math.max(0, limit - apps.size),
        });
      }
    }),
    { numRuns: RUNS },
  );
});

const variableNames = fc.constantFrom('A', 'B', 'C_1', '_d');
const environments = fc.dictionary(variableNames, fc.string({ unit: 'grapheme', maxLength: 20 }), {
  minKeys: 1,
  maxKeys: 4,
});
const envSteps = fc.oneof(
  fc.record({ set: environments, isPrivate: fc.boolean() }),
  fc.record({ unset: fc.uniqueArray(fc.oneof(variableNames, fc.constant('NEVER_SET')), { minLength: 1 }) }),
);

it('an environment is what was set and not unset', async () => {
  const owner = await somebodyWithApp(open.target, admin);
  const path = `/apps/${owner.app}/env`;
  const before = (await call('GET', path, owner.token)).json as { name: string }[];
  await fc.assert(
    fc.asyncProperty(fc.array(envSteps, { minLength: 1, maxLength: 8 }), async (steps) => {
      const model = new Map<string, { value: string; public: boolean }>();
      for (const step of steps) {
        if ('set' in step) {
          const answer = await call('POST', `${path}?private=${step.isPrivate}`, owner.token, step.set);
          // Text that no process can be given is refused as a whole.
          const isBad = Object.values(step.set).some((value) => value.includes('\u0000'));
          expect(verdict(answer), answer.text).toBe(isBad ? 'env.invalid' : '200');
          if (isBad) continue;
          for (const [name, value] of Object.entries(step.set)) model.set(name, { value, public: !step.isPrivate });
        } else {
          expect(verdict(await call('DELETE', path, owner.token, step.unset))).toBe('200');
          for (const name of step.unset) model.delete(name);
        }
        const shown = (await call('GET', path, owner.token)).json as { name: string }[];
        const own = shown.filter(({ name }) => !before.some((one) => one.name === name));
        const expected = [...model].map(([name, variable]) => ({ name, ...variable }));
        expect(own).toEqual(expected.sort((one, other) => (one.name < other.name ? -1 : 1)));
      }
      await call('DELETE', path, owner.token, ['A', 'B', 'C_1', '_d']);
    }),
    { numRuns: RUNS },
  );
});

const people = fc.integer({ min: 0, max: 3 });
const memberSteps = fc.record({ kind: fc.constantFrom('add', 'remove'), by: people, whom: people });

it('a team has exactly the members that members let in, and never none', async () => {
  const four: Somebody[] = [];
  for (let count = 0; count < 4; count += 1) four.push(await somebody(open.target, admin));
  await fc.assert(
    fc.asyncProperty(fc.array(memberSteps, { minLength: 1, maxLength: 12 }), async (steps) => {
      const team = unique('team-');
      const person = (index: number): Somebody => four[index] ?? { email: '', password: '', token: '' };
      expect(verdict(await call('POST', '/teams', person(0).token, { name: team }))).toBe('200');
      const members = new Set([0]);
      for (const { kind, by, whom } of steps) {
        const method = kind === 'add' ? 'PUT' : 'DELETE';
        const answer = await call(method, `/teams/${team}/${person(whom).email}`, person(by).token);
        const isIn = members.has(whom);
        const expected = !members.has(by)
          ? 'access.denied'
          : kind === 'add'
            ? isIn
              ? 'team.member_exists'
              : '200'
            : !isIn
              ? 'team.member_not_found'
              : members.size === 1
                ? 'team.last_member'
                : '200';
        expect(verdict(answer), JSON.stringify({ kind, by, whom })).toBe(expected);
        if (expected === '200') kind === 'add' ? members.add(whom) : members.delete(whom);
        const shown = (await call('GET', `/teams/${team}`, admin)).json as { users: string[] };
        expect(shown.users).toEqual([...members].map((index) => person(index).email).sort());
        // Everybody's own list says the same.
        const own = (await call('GET', '/teams', person(whom).token)).json as { name: string }[];
        expect(own.some(({ name }) => name === team)).toBe(members.has(whom));
      }
    }),
    { numRuns: RUNS },
  );
});

it('all of this was answered as documented', () => {
  expect([...open.target.recorder.problems]).toEqual([]);
});
