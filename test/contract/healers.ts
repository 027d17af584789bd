/** Specification 4.5: healers. Which disorder each of them heals is shown in test/domain and test/scenarios. */
import { beforeAll, describe, expect, it } from 'vitest';
import { type ApiAnswer, ask, EXPECTED, login, somebody, type Target, VARIANT_NAMES } from './target.ts';

const OWN = ['networks', 'operations', 'repositories', 'routes', 'services', 'slugs', 'strays', 'units'];
const verdict = ({ status, code }: ApiAnswer) => [status, code];

export function healersContract(getTarget: () => Target): void {
  let target: Target;
  let admin: string;
  let token: string;
  beforeAll(async () => {
    target = getTarget();
    admin = await login(target, target.adminEmail, target.adminPassword);
    ({ token } = await somebody(target, admin));
  });

  describe.each(VARIANT_NAMES)('healers of %s', (variant) => {
    const { prefix } = EXPECTED[variant];

    it('are a list of names with addresses [healers.list]', async () => {
      for (const one of [admin, token]) {
        const answer = await ask(target, 'GET', `${prefix}/healers`, { token: one });
        expect(answer.status).toBe(200);
        for (const name of OWN) expect(answer.json).toContainEqual({ [name]: `/healers/${name}` });
      }
    });

    it('are executed at their address, and say what they found [healers.run]', async () => {
      const ran = await ask(target, 'GET', `${prefix}/healers/routes`, { token: admin });
      expect(ran.status).toBe(200);
      // On a server that is in use an operation may be under way, which is left alone.
      expect(ran.json).toMatchObject({ healer: 'routes', answer: null });
      for (const { outcome } of (ran.json as { found: { outcome: string }[] }).found) expect(outcome).toBe('left');
      // Who has no app hears of none.
      const theirs = await ask(target, 'GET', `${prefix}/healers/routes`, { token });
      expect([theirs.status, theirs.json]).toMatchObject([200, { healer: 'routes', found: [] }]);
      const unknown = await ask(target, 'GET', `${prefix}/healers/no-such-healer`, { token: admin });
      expect(verdict(unknown)).toEqual([404, 'healer.not_found']);
    });
  });

  it('are executed by POST in the union alone [healers.run]', async () => {
    const answer = await ask(target, 'POST', '/healers/slugs', { token: admin });
    expect([answer.status, answer.json]).toMatchObject([200, { healer: 'slugs' }]);
    expect((await ask(target, 'POST', '/a/healers/slugs', { token: admin })).status).toBe(405);
  });

  it('what they did lately is a list [healers.recent]', async () => {
    for (const filter of ['', '?filter=node', '?filter=container']) {
      const answer = await ask(target, 'GET', `/docker/healing${filter}`, { token: admin });
      expect([answer.status, Array.isArray(answer.json)]).toEqual([200, true]);
    }
    const wrong = await ask(target, 'GET', '/docker/healing?filter=x', { token: admin });
    expect(verdict(wrong)).toEqual([400, 'input.invalid']);
    expect(verdict(await ask(target, 'GET', '/docker/healing', { token }))).toEqual([403, 'access.denied']);
  });
}
