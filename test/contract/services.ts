/** Specification 4.2 and 4.3: services, instances, binding. Where the server calls providers, it is given a real one. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PASSWORD } from '../../src/backends/service-endpoint/testing/faulty-server.ts';
import { type HttpProvider, startHttpProvider } from '../../src/backends/service-endpoint/testing/http-provider.ts';
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

export function servicesContract(getTarget: () => Target): void {
  describe.each(VARIANT_NAMES)('services of %s', (variant) => {
    const { prefix } = EXPECTED[variant];
    let target: Target;
    let provider: HttpProvider;
    let admin: string;
    let ann: Somebody & { team: string; app: string };
    let bob: Somebody & { team: string; app: string };
    let eve: Somebody;

    beforeAll(async () => {
      target = getTarget();
      provider = await startHttpProvider();
      provider.variables = { DB_HOST: 'db.example.com', DB_PASSWORD: 'from the provider' };
      admin = await login(target, target.adminEmail, target.adminPassword);
      ann = await somebodyWithApp(target, admin);
      bob = await somebodyWithApp(target, admin);
      eve = await somebody(target, admin);
    });
    afterAll(() => provider.close());

    const as = (who: { token: string }, method: string, path: string, body?: object | string): Promise<ApiAnswer> =>
      ask(target, method, prefix + path, { token: who.token, ...(body !== undefined && { body }) });
    const verdict = ({ status, code }: ApiAnswer) => [status, code];
    const manifest = (id: string, more = ''): string =>
      `id: ${id}\nusername: platform\npassword: ${PASSWORD}\nendpoint:\n  production: ${provider.url}\n${more}`;

    async function newService(more = ''): Promise<string> {
      const id = unique('db-');
      const made = await as(ann, 'POST', '/services', manifest(id, more));
      expect([made.status, made.text]).toEqual([200, 'success']);
      return id;
    }

    async function newInstance(service: string): Promise<string> {
      const name = unique('i-');
      const made = await as(ann, 'POST', '/services/instances', { name, service_name: service });
      expect([made.status, made.text]).toEqual([200, '']);
      return name;
    }

    it('adds services to the catalog and lists those of the own teams [services.create] [services.list]', async () => {
      const id = await newService();
      expect((await as(ann, 'GET', '/services')).json).toContainEqual({ service: id, instances: [] });
      expect((await as(bob, 'GET', '/services')).json).not.toContainEqual({ service: id, instances: [] });
      expect(verdict(await as(eve, 'POST', '/services', manifest(unique('db-'))))).toEqual([403, 'access.denied']);
      expect(verdict(await as(ann, 'POST', '/services', manifest(id)))).toEqual([500, 'service.name_taken']);
    });

    it('names every mistake of a manifest with its line [services.create]', async () => {
      for (const wrong of ['id: [', 'not a mapping', '', 'a: b\n\tc: d']) {
        expect(verdict(await as(ann, 'POST', '/services', wrong))).toEqual([500, 'manifest.invalid']);
      }
      const wrong = await as(ann, 'POST', '/services', 'id: no name\nendpoint:\n  production: "ftp://x"\nkind: soap\n');
      expect(wrong.text).toMatch(/^line 1: .*\nline 3: .*\nline 4: kind/);
    });

    it('replaces what the manifest says [services.update]', async () => {
      const id = await newService();
      expect((await as(ann, 'PUT', '/services', manifest(id, 'team: ' + ann.team))).status).toBe(200);
      expect(verdict(await as(bob, 'PUT', '/services', manifest(id)))).toEqual([403, 'access.denied']);
      expect(verdict(await as(ann, 'PUT', '/services', manifest(unique('db-'))))).toEqual([404, 'service.not_found']);
      expect(verdict(await as(ann, 'PUT', '/services', 'id: {'))).toEqual([500, 'manifest.invalid']);
      for (const name of [id, unique('db-')]) {
        expect(verdict(await as(eve, 'PUT', '/services', manifest(name)))).toEqual([403, 'access.denied']);
      }
    });

    it('takes a manifest of the published keys alone, which changes no password [services.create services.update]', async () => {
      const published = (id: string): string => `id: ${id}\nendpoint:\n  production: ${provider.url}\n`;
      const id = unique('db_');
      expect((await as(ann, 'POST', '/services', published(id))).status).toBe(200);
      expect((await as(ann, 'GET', '/services')).json).toContainEqual({ service: id, instances: [] });
      const known = await newService();
      const update = published(known).replace('endpoint', 'username: platform\nendpoint');
      expect((await as(ann, 'PUT', '/services', update)).status).toBe(200);
      // The provider refuses every other password.
      await newInstance(known);
    });

    it('keeps documentation word for word [services.doc] [services.doc_set]', async () => {
      const id = await newService();
      expect((await as(bob, 'GET', `/services/${id}/doc`)).text).toBe('');
      const doc = 'How to use it:\n\n  1. bind\n  2. ünïcode\n';
      expect((await as(ann, 'PUT', `/services/${id}/doc`, doc)).status).toBe(200);
      expect((await as(bob, 'GET', `/services/${id}/doc`)).text).toBe(doc);
      expect(verdict(await as(bob, 'PUT', `/services/${id}/doc`, 'mine'))).toEqual([403, 'access.denied']);
      for (const method of ['GET', 'PUT']) {
        expect(verdict(await as(ann, method, '/services/nowhere/doc', 'x'))).toEqual([404, 'service.not_found']);
      }
    });

    it('lets teams use a restricted service, and no longer [services.grant] [services.revoke]', async () => {
      const id = await newService('restricted: true\n');
      const path = `/services/${id}/${bob.team}`;
      expect(verdict(await as(bob, 'GET', `/services/${id}`))).toEqual([403, 'access.denied']);
      expect(verdict(await as(bob, 'PUT', path))).toEqual([403, 'access.denied']);
      expect((await as(ann, 'PUT', path)).status).toBe(200);
      expect(verdict(await as(ann, 'PUT', path))).toEqual([409, 'team.access_exists']);
      expect((await as(bob, 'GET', `/services/${id}`)).json).toEqual([]);
      expect((await as(ann, 'DELETE', path)).status).toBe(200);
      expect(verdict(await as(ann, 'DELETE', path))).toEqual([404, 'team.access_missing']);
      expect(verdict(await as(bob, 'GET', `/services/${id}`))).toEqual([403, 'access.denied']);
      expect(verdict(await as(ann, 'PUT', `/services/nowhere/${bob.team}`))).toEqual([404, 'service.not_found']);
      expect(verdict(await as(ann, 'PUT', `/services/${id}/nowhere`))).toEqual([404, 'team.not_found']);
    });

    it('makes instances and shows them [instances.create] [instances.info] [instances.list] [services.info]', async () => {
      const service = await newService();
      const name = await newInstance(service);
      const facts = { name, servicename: service, teams: [ann.team], apps: [] };
      const element = { Name: name, Teams: [ann.team], Apps: [], ServiceName: service };
      const info = (await as(ann, 'GET', `/services/instances/${name}`)).json as Record<string, unknown>;
      const [shown] = (await as(ann, 'GET', `/services/${service}`)).json as Record<string, unknown>[];
      if (variant === 'union') {
        expect(info).toMatchObject(facts);
        expect(shown).toMatchObject(element);
      } else {
        expect(info).toEqual(facts);
        expect(shown).toEqual(element);
      }
      const entry = { service, instances: [name] };
      expect((await as(ann, 'GET', '/services')).json).toContainEqual(entry);
      expect((await as(ann, 'GET', '/services/instances')).json).toContainEqual(expect.objectContaining(entry));
      expect((await as(bob, 'GET', '/services/instances')).json).toContainEqual(
        expect.objectContaining({ service, instances: [] }),
      );
      expect((await as(ann, 'GET', `/services/instances?app=${ann.app}`)).json).toEqual([]);
      expect(verdict(await as(bob, 'GET', `/services/instances/${name}`))).toEqual([403, 'access.denied']);
      expect(verdict(await as(ann, 'GET', '/services/instances/nowhere'))).toEqual([404, 'instance.not_found']);
      expect(verdict(await as(ann, 'GET', '/services/nowhere'))).toEqual([404, 'service.not_found']);
      const again = { name, service_name: service };
      expect(verdict(await as(ann, 'POST', '/services/instances', again))).toEqual([409, 'instance.name_taken']);
      const nowhere = { name: unique('i-'), service_name: 'nowhere' };
      expect(verdict(await as(ann, 'POST', '/services/instances', nowhere))).toEqual([404, 'service.not_found']);
      const bad = { name: '1', service_name: service };
      expect(verdict(await as(ann, 'POST', '/services/instances', bad))).toEqual([400, 'instance.invalid_name']);
      expect(verdict(await as(ann, 'POST', '/services/instances', '{"name"'))).toEqual([400, 'input.invalid_json']);
      for (const wrong of [{}, { service_name: '' }, { service_name: 5 }, { service_name: service, owner: 5 }, []]) {
        const body = Array.isArray(wrong) ? wrong : { name: unique('i-'), ...wrong };
        expect(verdict(await as(ann, 'POST', '/services/instances', body))).toEqual([400, 'input.invalid']);
      }
    });

    it('makes instances for all teams of who names none, as the published request does [instances.create]', async () => {
      const two = await somebodyWithApp(target, admin);
      const second = unique('t');
      expect((await as(two, 'POST', '/teams', { name: second })).status).toBe(200);
      const make = async (service: string, more: object = {}): Promise<unknown> => {
        const name = unique('i-');
        const made = await as(two, 'POST', '/services/instances', { name, service_name: service, ...more });
        expect(made.status, made.text).toBe(200);
        return ((await as(two, 'GET', `/services/instances/${name}`)).json as { teams: string[] }).teams;
      };
      const open = await newService();
      expect(await make(open)).toEqual([two.team, second].sort());
      expect(await make(open, { owner: second })).toEqual([second]);
      const restricted = await newService('restricted: true\n');
      expect((await as(ann, 'PUT', `/services/${restricted}/${second}`)).status).toBe(200);
      expect(await make(restricted)).toEqual([second]);
      const none = await as(eve, 'POST', '/services/instances', { name: unique('i-'), service_name: open });
      expect(verdict(none)).toEqual([400, 'team.required']);
    });

    it('says whether an instance can be used [instances.status]', async () => {
      const name = await newInstance(await newService());
      const path = `/services/instances/${name}/status`;
      expect((await as(ann, 'GET', path)).text).toMatch(/^Service instance "i-\w+" is up$/);
      expect(verdict(await as(bob, 'GET', path))).toEqual([403, 'access.denied']);
      expect(verdict(await as(ann, 'GET', '/services/instances/nowhere/status'))).toEqual([404, 'instance.not_found']);
    });

    it('binds and unbinds, with the variables as the answer [instances.bind] [instances.unbind]', async () => {
      const name = await newInstance(await newService());
      const path = `/services/instances/${name}/${ann.app}`;
      const deployed = target.deploy === undefined ? 0 : 1;
      await target.deploy?.(ann.app, ann.token);
      const bound = await as(ann, 'PUT', path);
      expect([bound.status, bound.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
      const vars = bound.json as Record<string, string>;
      expect(Object.keys(vars)).toHaveLength(2);
      const env = (await as(ann, 'GET', `/apps/${ann.app}/env`)).json as { name: string }[];
      const mark = variant === 'union' ? { managedBy: name } : {};
      for (const [key, value] of Object.entries(vars)) {
        expect(env).toContainEqual({ name: key, value, public: false, ...mark });
      }
      expect(env.map((variable) => variable.name)).toContain('TSURU_SERVICES');
      const listed = (await as(ann, 'GET', `/services/instances?app=${ann.app}`)).json as { instances: string[] }[];
      expect(listed.flatMap(({ instances }) => instances)).toEqual([name]);
      expect((await as(ann, 'GET', `/services/instances/${name}`)).json).toMatchObject({ apps: [ann.app] });
      const { servicename } = (await as(ann, 'GET', `/services/instances/${name}`)).json as { servicename: string };
      for (const [who, count] of [
        [ann, 1],
        [bob, 0],
      ] as const) {
        const deploys = (await as(who, 'GET', `/deploys?service=${servicename}`)).json as { App: string }[];
        expect(deploys.map(({ App }) => App)).toEqual(Array<string>(count * deployed).fill(ann.app));
      }
      expect(verdict(await as(ann, 'PUT', path))).toEqual([409, 'binding.exists']);
      expect(verdict(await as(bob, 'DELETE', path))).toEqual([403, 'access.denied']);
      expect((await as(ann, 'DELETE', path)).status).toBe(200);
      expect((await as(ann, 'GET', `/apps/${ann.app}/env`)).json).toEqual([]);
      expect(verdict(await as(ann, 'DELETE', path))).toEqual([412, 'binding.not_found']);
    });

    it('refuses to bind what is not there or not ours [instances.bind] [instances.unbind]', async () => {
      const name = await newInstance(await newService());
      for (const method of ['PUT', 'DELETE']) {
        const at = (instance: string, app: string): Promise<ApiAnswer> =>
          as(ann, method, `/services/instances/${instance}/${app}`);
        expect(verdict(await at(name, 'nowhere'))).toEqual([404, 'app.not_found']);
        expect(verdict(await at('nowhere', ann.app))).toEqual([404, 'instance.not_found']);
        expect(verdict(await at(name, bob.app))).toEqual([403, 'access.denied']);
      }
      const foreign = await as(bob, 'PUT', `/services/instances/${name}/${bob.app}`);
      expect(verdict(foreign)).toEqual([403, 'access.denied']);
    });

    if (variant === 'union') {
      it('hands requests on to the provider, of an instance only what is its own', async () => {
        const service = await newService();
        const name = await newInstance(service);
        const owners = `/services/proxy/service/${service}?callback=`;
        const asked = await as(ann, 'POST', `${owners}/echo`, 'the body');
        expect(asked.status, asked.text).toBe(200);
        expect(asked.text).toMatch(/POST[^]*the body/);
        expect(asked.headers['content-security-policy']).toBe('sandbox');
        expect(verdict(await as(bob, 'GET', `${owners}/echo`))).toEqual([403, 'access.denied']);
        const own = `/services/proxy/${name}?callback=`;
        expect((await as(ann, 'GET', `${own}/resources/${name}/status`)).status).toBeLessThan(300);
        for (const foreign of [
          '/resources/other/status',
          `/resources/${name}`,
          `/resources/${name}/`,
          `/resources/${name}/bind-app`,
          `/resources/${name}/Bind-App/`,
          '/echo',
        ]) {
          expect(verdict(await as(ann, 'GET', own + foreign)), foreign).toEqual([403, 'access.denied']);
        }
        const odder = ['/../other/x', '/%252e%252e/x', '/..;/other/x', '/bind;x=1'].map(
          (path) => `/resources/${name}${path}`,
        );
        for (const odd of ['', 'x', '//x/y', ...odder]) {
          expect(verdict(await as(ann, 'GET', own + odd)), odd).toEqual([400, 'input.invalid']);
        }
        expect(verdict(await as(bob, 'GET', `${own}/resources/${name}/x`))).toEqual([403, 'access.denied']);
        expect(verdict(await as(ann, 'GET', '/services/proxy/nowhere?callback=/x'))).toEqual([
          404,
          'instance.not_found',
        ]);
      });

      it('knows the paths and forms of later clients', async () => {
        const id = unique('db-');
        const form = new URLSearchParams({
          id,
          endpoint: provider.url,
          username: 'platform',
          password: PASSWORD,
          team: '',
        });
        expect((await as(ann, 'POST', '/1.0/services', String(form))).status).toBe(200);
        form.delete('id');
        expect((await as(ann, 'PUT', `/1.0/services/${id}`, String(form))).status).toBe(200);
        expect(verdict(await as(bob, 'PUT', `/1.0/services/${id}`, String(form)))).toEqual([403, 'access.denied']);
        const name = unique('i-');
        const made = `description=&name=${name}&owner=${ann.team}&plan=small&parameters=&parameters.size=1&tags=a&tags=b`;
        expect((await as(ann, 'POST', `/1.0/services/${id}/instances`, made)).status).toBe(200);
        const path = `/1.0/services/${id}/instances/${name}`;
        expect((await as(ann, 'PUT', path, 'description=newdesc&plan=&teamowner=')).status).toBe(200);
        expect(verdict(await as(ann, 'PUT', path, { plan: 5 }))).toEqual([400, 'input.invalid']);
        const info = (await as(ann, 'GET', path)).json;
        expect(info).toMatchObject({ name, Description: 'newdesc', PlanName: 'small', Tags: ['a', 'b'] });
        const { PlanDescription } = info as { PlanDescription: string };
        const plans = (await as(ann, 'GET', `/1.0/services/${id}/plans`)).json as {
          Name: string;
          Description: string;
        }[];
        expect(PlanDescription).toBe(plans.find((plan) => plan.Name === 'small')?.Description);
        expect((await as(ann, 'GET', '/1.0/services/instances')).json).toContainEqual({
          ...{ service: id, instances: [name], plans: ['small'] },
        });
        expect((await as(ann, 'GET', `/1.0/services/${id}/plans`)).json).toContainEqual(
          expect.objectContaining({ Name: 'small' }),
        );
        const grant = `/1.0/services/${id}/instances/permission/${name}/${bob.team}`;
        expect((await as(ann, 'PUT', grant)).status).toBe(200);
        expect(verdict(await as(ann, 'PUT', grant))).toEqual([409, 'team.access_exists']);
        expect((await as(bob, 'GET', `${path}/status`)).status).toBe(200);
        expect((await as(bob, 'PUT', `${path}/${bob.app}`, 'noRestart=true')).status).toBe(200);
        expect((await as(ann, 'DELETE', grant)).status).toBe(200);
        expect(verdict(await as(ann, 'DELETE', `${grant.slice(0, -bob.team.length)}${ann.team}`))).toEqual([
          403,
          'team.owns_instance',
        ]);
        // Whoever may unbind each of the apps may unbind them all at once.
        expect(verdict(await as(ann, 'DELETE', `${path}?unbindall=true`))).toEqual([403, 'access.denied']);
        expect((await as(bob, 'DELETE', `${path}/${bob.app}?force=false&noRestart=false`)).status).toBe(200);
        const reported = await as(ann, 'PUT', `${path}/apps/${ann.app}?noRestart=true`);
        const lines = reported.text
          .trim()
          .split('\n')
          .map((line) => (JSON.parse(line) as { Message: string }).Message);
        expect([reported.status, reported.headers['content-type']]).toEqual([200, 'application/x-json-stream']);
        expect(lines.join('')).toMatch(/is now bound to the app[^]*\n- [A-Z0-9_]+\n/);
        // Without `unbindall` the answer names the apps in one line; with `false` its status is that of an error.
        const asked = await as(ann, 'DELETE', path);
        expect([asked.status, asked.json]).toEqual([
          200,
          {
            Message: ann.app,
            Error: 'This service instance is bound to at least one app. Unbind them before removing it',
          },
        ]);
        expect(verdict(await as(ann, 'DELETE', `${path}?unbindall=false`))).toEqual([409, 'instance.bound']);
        expect((await as(ann, 'DELETE', `${path}?unbindall=true`)).status).toBe(200);
        expect((await as(ann, 'DELETE', `/1.0/services/${id}`)).status).toBe(204);
      });
    }

    it('removes what nothing hangs on any more [instances.remove] [services.remove]', async () => {
      const service = await newService();
      const name = await newInstance(service);
      await as(ann, 'PUT', `/services/instances/${name}/${ann.app}`);
      expect(verdict(await as(ann, 'DELETE', `/services/instances/${name}`))).toEqual([409, 'instance.bound']);
      expect(verdict(await as(ann, 'DELETE', `/services/${service}`))).toEqual([403, 'service.has_instances']);
      await as(ann, 'DELETE', `/services/instances/${name}/${ann.app}`);
      expect(verdict(await as(bob, 'DELETE', `/services/instances/${name}`))).toEqual([403, 'access.denied']);
      expect((await as(ann, 'DELETE', `/services/instances/${name}`)).status).toBe(200);
      expect(verdict(await as(ann, 'DELETE', `/services/instances/${name}`))).toEqual([404, 'instance.not_found']);
      expect(verdict(await as(bob, 'DELETE', `/services/${service}`))).toEqual([403, 'access.denied']);
      const removed = await as(ann, 'DELETE', `/services/${service}`);
      expect([removed.status, removed.text]).toEqual([204, '']);
      expect(verdict(await as(ann, 'DELETE', `/services/${service}`))).toEqual([404, 'service.not_found']);
    });
  });
}
