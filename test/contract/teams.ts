/** Specification 4.8: teams and their members. */
import { beforeAll, describe, expect, it } from 'vitest';
import {
  type ApiAnswer,
  ask,
  EXPECTED,
  login,
  somebody,
  type Somebody,
  somebodyWithApp,
  type Target,
  unique,
  VARIANT_NAMES,
} from './target.ts';

export function teamsContract(getTarget: () => Target): void {
  describe.each(VARIANT_NAMES)('teams of %s', (variant) => {
    const { prefix } = EXPECTED[variant];
    let target: Target;
    let admin: string;
    let ann: Somebody;
    let bob: Somebody;

    beforeAll(async () => {
      target = getTarget();
      admin = await login(target, target.adminEmail, target.adminPassword);
      ann = await somebody(target, admin);
      bob = await somebody(target, admin);
    });

    const as = (who: Somebody, method: string, path: string, body?: object): Promise<ApiAnswer> =>
      ask(target, method, prefix + path, { token: who.token, ...(body && { body }) });
    const verdict = ({ status, code }: ApiAnswer) => [status, code];

    async function newTeam(): Promise<string> {
      const name = unique('team-');
      const created = await as(ann, 'POST', '/teams', { name });
      expect([created.status, created.text]).toEqual([200, '']);
      return name;
    }

    it('creates a team with the creator as its member [teams.create teams.list teams.info]', async () => {
      const name = await newTeam();
      expect((await as(ann, 'GET', `/teams/${name}`)).json).toEqual({ name, users: [ann.email] });
      expect((await as(ann, 'GET', '/teams')).json).toContainEqual({ name });
      expect((await as(bob, 'GET', '/teams')).json).toEqual([]);
    });

    it('refuses bad names and names that are taken [teams.create]', async () => {
      const name = await newTeam();
      expect(verdict(await as(bob, 'POST', '/teams', { name }))).toEqual([409, 'team.name_taken']);
      for (const bad of ['', 'x', '1ab', 'a b', 'doc', 'a/b', 'a'.repeat(64)]) {
        expect(verdict(await as(bob, 'POST', '/teams', { name: bad }))).toEqual([400, 'team.invalid_name']);
      }
    });

    it('adds and removes members, with effect at once [teams.member_add teams.member_remove]', async () => {
      const name = await newTeam();
      expect(verdict(await as(bob, 'GET', `/teams/${name}`))).toEqual([403, 'access.denied']);
      expect((await as(ann, 'PUT', `/teams/${name}/${bob.email}`)).status).toBe(200);
      expect(verdict(await as(ann, 'PUT', `/teams/${name}/${bob.email}`))).toEqual([409, 'team.member_exists']);
      expect((await as(bob, 'GET', `/teams/${name}`)).json).toEqual({ name, users: [ann.email, bob.email].sort() });
      expect((await as(bob, 'DELETE', `/teams/${name}/${ann.email}`)).status).toBe(200);
      expect(verdict(await as(ann, 'GET', `/teams/${name}`))).toEqual([403, 'access.denied']);
      expect(verdict(await as(bob, 'DELETE', `/teams/${name}/${bob.email}`))).toEqual([403, 'team.last_member']);
    });

    it('knows who and what is missing', async () => {
      const name = await newTeam();
      const nobody = `${unique('n')}@example.com`;
      expect(verdict(await as(ann, 'GET', '/teams/no-such-team'))).toEqual([404, 'team.not_found']);
      expect(verdict(await as(ann, 'DELETE', '/teams/no-such-team'))).toEqual([404, 'team.not_found']);
      expect(verdict(await as(ann, 'PUT', `/teams/${name}/${nobody}`))).toEqual([404, 'user.not_found']);
      expect(verdict(await as(ann, 'DELETE', `/teams/${name}/${bob.email}`))).toEqual([404, 'team.member_not_found']);
    });

    it('lets nobody but members and admins touch a team', async () => {
      const name = await newTeam();
      for (const [method, path] of [
        ['DELETE', `/teams/${name}`],
        ['PUT', `/teams/${name}/${bob.email}`],
        ['DELETE', `/teams/${name}/${ann.email}`],
      ] as const) {
        expect(verdict(await as(bob, method, path))).toEqual([403, 'access.denied']);
      }
      expect((await ask(target, 'GET', `${prefix}/teams`, { token: admin })).json).toContainEqual({ name });
    });

    it('removes a team without apps, and no other [teams.remove]', async () => {
      const owner = await somebodyWithApp(target, admin);
      const inUse = await as(owner, 'DELETE', `/teams/${owner.team}`);
      expect(verdict(inUse)).toEqual([403, 'team.in_use']);
      expect(inUse.text).toContain(owner.app);
      expect((await as(owner, 'DELETE', `/apps/${owner.app}`)).status).toBe(200);
      expect((await as(owner, 'DELETE', `/teams/${owner.team}`)).status).toBe(200);
      expect(verdict(await as(owner, 'GET', `/teams/${owner.team}`))).toEqual([404, 'team.not_found']);
    });
  });
}
