/** Specification 4.1 and beyond: units, rest, swap, host names and rollback of apps. */
import { beforeAll, describe, expect, it } from 'vitest';
import {
  aPlatform,
  type ApiAnswer,
  type Ask,
  ask,
  EXPECTED,
  login,
  somebody,
  somebodyWithApp,
  type Target,
  unique,
  VARIANT_NAMES,
} from './target.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

interface Shown {
  readonly State: string;
  readonly Units: readonly { readonly ID: string; readonly ProcessName: string }[];
  readonly Teams: readonly string[];
  readonly Ip: string;
  readonly swappedWith?: string;
  readonly cname?: readonly string[];
}

export function appOperationsContract(getTarget: () => Target): void {
  describe('operations on apps', () => {
    let target: Target;
    let owner: Awaited<ReturnType<typeof somebodyWithApp>>;
    let stranger: string;

    beforeAll(async () => {
      target = getTarget();
      const admin = await login(target, target.adminEmail, target.adminPassword);
      owner = await somebodyWithApp(target, admin);
      stranger = (await somebody(target, admin)).token;
    });

    const call = (method: string, path: string, what: Ask = {}) =>
      ask(target, method, path, { token: owner.token, ...what });

    async function newApp(processes: readonly string[] | null = null): Promise<string> {
      const name = unique('app-');
      const platform = await aPlatform(target, owner.token);
      const created = await call('POST', '/apps', { body: { name, platform, teamOwner: owner.team } });
      expect(created.status, created.text).toBe(200);
      if (processes !== null) await target.deploy?.(name, owner.token, processes);
      return name;
    }

    const show = async (app: string) => (await call('GET', `/apps/${app}`)).json as Shown;
    const counts = async (app: string) => {
      const list = (await show(app)).Units.map((unit) => unit.ProcessName);
      return Object.fromEntries(
        [...new Set(list)].sort().map((name) => [name, list.filter((one) => one === name).length]),
      );
    };

    async function expectRefused(method: string, path: string, what: Ask, expected: [number, string]): Promise<void> {
      const { status, code, text } = await call(method, path, what);
      expect([status, code], `${method} ${path}: ${text}`).toEqual(expected);
    }

    it('keeps strangers out of every operation, and answers 404 for what is not there', async () => {
      const other = await newApp();
      for (const [method, path, body] of [
        ['PUT', `/swap?app1=${other}&app2=${owner.app}`, ''],
        ['PUT', `/apps/${owner.app}/units`, '1'],
        ['DELETE', `/apps/${owner.app}/units`, '1'],
        ['POST', `/apps/${owner.app}/start`, ''],
        ['GET', `/apps/${owner.app}/stop`, ''],
        ['POST', `/apps/${owner.app}/cname`, '{"cname":["a.example.com"]}'],
        ['DELETE', `/apps/${owner.app}/cname`, '{"cname":["a.example.com"]}'],
      ] as const) {
        await expectRefused(method, path, { body, token: stranger }, [403, 'access.denied']);
        await expectRefused(method, path.replace(owner.app, 'no-such-app'), { body }, [404, 'app.not_found']);
      }
    });

    describe('units', () => {
      it('are refused before the first deploy, and without a proper number', async () => {
        const path = `/apps/${owner.app}/units`;
        await expectRefused('PUT', path, { body: '1' }, [409, 'app.not_deployed']);
        await expectRefused('PUT', path, {}, [400, 'unit.invalid_count']);
        for (const body of ['0', '-1', 'many', '{"units":"x"}', 'units=0&process=']) {
          await expectRefused('PUT', path, { body }, [400, 'unit.invalid_count']);
        }
        await expectRefused('PUT', path, { body: '{"units":{}}' }, [400, 'input.invalid']);
        await expectRefused('PUT', path, { body: '{"units":' }, [400, 'input.invalid_json']);
        expect((await call('PUT', path)).text).toContain('You must provide the number of units.');
      });

      it('are added and removed as clients of every age ask for it', async (test) => {
        if (target.deploy === undefined) return test.skip('this target cannot deploy');
        const app = await newApp(['web', 'worker']);
        const path = `/apps/${app}/units`;
        const added = await call('PUT', path, { body: '2\n' });
        expect([added.status, added.headers['content-type']]).toEqual([200, 'application/x-json-stream']);
        expect((await call('PUT', path, { body: 'process=worker&units=1', headers: FORM })).status).toBe(200);
        expect((await call('PUT', `${path}?units=1&process=worker`)).status).toBe(200);
        expect((await call('PUT', `/1.0${path}`, { body: { units: 1, process: 'worker' } })).status).toBe(200);
        expect(await counts(app)).toEqual({ web: 3, worker: 4 });
        expect((await call('DELETE', path, { body: '1' })).status).toBe(200);
        expect((await call('DELETE', `${path}?process=worker&units=4`)).status).toBe(200);
        expect(await counts(app)).toEqual({ web: 2 });
        await expectRefused('DELETE', `${path}?units=2`, {}, [409, 'unit.too_few']);
        await expectRefused('PUT', `${path}?units=2&process=clock`, {}, [400, 'process.not_found']);
      });
    });

    describe('rest', () => {
      it('is begun and ended, for the app or one process, by GET and POST', async (test) => {
        if (target.deploy === undefined) return test.skip('this target cannot deploy');
        const app = await newApp(['web', 'worker']);
        // Plain text to clients that write no version before the path.
        const isText = ({ status, headers, text }: ApiAnswer): void => {
          expect([status, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
          expect(text).not.toContain('"Message"');
        };
        isText(await call('POST', `/apps/${app}/stop?process=worker`));
        expect(await counts(app)).toEqual({ web: 1 });
        isText(await call('POST', `/apps/${app}/start`, { body: 'process=worker', headers: FORM }));
        expect(await counts(app)).toEqual({ web: 1, worker: 1 });
        isText(await call('GET', `/apps/${app}/stop`));
        isText(await call('GET', `/apps/${app}/start`));
        isText(await call('GET', `/apps/${app}/restart`));
        isText(await call('GET', `/apps/${app}/stop`));
        expect(await show(app)).toMatchObject({ State: 'stopped', Units: [] });
        await expectRefused('GET', `/apps/${app}/restart`, {}, [409, 'app.stopped']);
        const started = await call('POST', `/1.0/apps/${app}/start`, { body: 'process=', headers: FORM });
        expect([started.status, started.headers['content-type']]).toEqual([200, 'application/x-json-stream']);
        expect(await counts(app)).toEqual({ web: 1, worker: 1 });
        await expectRefused('POST', `/apps/${app}/stop?process=clock`, {}, [400, 'process.not_found']);
      });

      it('is refused to what was never deployed', async () => {
        for (const verb of ['start', 'stop']) {
          await expectRefused('POST', `/apps/${owner.app}/${verb}`, {}, [409, 'app.not_deployed']);
        }
      });

      it('a restart of one process leaves the others', async (test) => {
        if (target.deploy === undefined) return test.skip('this target cannot deploy');
        const app = await newApp(['web', 'worker']);
        const idOf = async (process: string) =>
          (await show(app)).Units.find((unit) => unit.ProcessName === process)?.ID;
        const [web, worker] = [await idOf('web'), await idOf('worker')];
        expect((await call('POST', `/apps/${app}/restart?process=worker`)).status).toBe(200);
        expect((await call('POST', `/apps/${app}/restart`, { body: 'process=worker', headers: FORM })).status).toBe(
          200,
        );
        expect(await idOf('web')).toBe(web);
        expect(await idOf('worker')).not.toBe(worker);
        await expectRefused('GET', `/apps/${app}/restart?process=clock`, {}, [400, 'process.not_found']);
      });
    });

    describe.each(VARIANT_NAMES)('swap of %s', (variant) => {
      const { prefix } = EXPECTED[variant];
      it('exchanges addresses until it is done again [apps.swap]', async () => {
        const [one, two] = [await newApp(), await newApp()];
        const before = await show(one);
        const swapped = await call('PUT', `${prefix}/swap?app1=${one}&app2=${two}`);
        expect([swapped.status, swapped.text]).toEqual([200, '']);
        expect(await show(two)).toMatchObject({ Ip: before.Ip, swappedWith: one });
        await expectRefused('DELETE', `${prefix}/apps/${one}`, {}, [409, 'app.swapped']);
        const three = await newApp();
        await expectRefused('PUT', `${prefix}/swap?app1=${one}&app2=${three}`, {}, [409, 'app.swapped']);
        expect((await call('PUT', `${prefix}/swap?app1=${two}&app2=${one}&force=false`)).status).toBe(200);
        expect(await show(one)).toEqual(before);
        expect((await call('PUT', `${prefix}/swap?app1=${one}&app2=${two}`)).status).toBe(200);
        expect((await call('DELETE', `${prefix}/apps/${one}?force=true`)).status).toBe(200);
        expect((await show(two)).swappedWith).toBeUndefined();
        await expectRefused('PUT', `${prefix}/swap?app1=${two}`, {}, [400, 'input.invalid']);
        await expectRefused('PUT', `${prefix}/swap?app1=${two}&app2=${two}`, {}, [400, 'input.invalid']);
        await expectRefused('PUT', `${prefix}/swap?app1=${two}&app2=${three}&force=maybe`, {}, [400, 'input.invalid']);
      });

      it('swaps apps that differ unless the client says force=false [apps.swap]', async (test) => {
        if (target.deploy === undefined) return test.skip('this target cannot deploy');
        const [one, two] = [await newApp(['web']), await newApp()];
        const path = `${prefix}/swap?app1=${one}&app2=${two}`;
        await expectRefused('PUT', `${path}&force=false`, {}, [412, 'app.swap_mismatch']);
        expect((await show(one)).swappedWith).toBeUndefined();
        expect((await call('PUT', path)).status).toBe(200);
        expect((await show(one)).swappedWith).toBe(two);
      });
    });

    it('a swap of apps that differ asks with 412, and takes the answer in a form', async (test) => {
      if (target.deploy === undefined) return test.skip('this target cannot deploy');
      const [one, two] = [await newApp(['web']), await newApp()];
      const form = (force: boolean) => `app1=${one}&app2=${two}&cnameOnly=false&force=${force}`;
      const asked = await call('POST', '/1.0/swap', { body: form(false), headers: FORM });
      expect([asked.status, asked.code]).toEqual([412, 'app.swap_mismatch']);
      expect((await call('POST', '/1.0/swap', { body: form(true), headers: FORM })).status).toBe(200);
      expect((await show(one)).swappedWith).toBe(two);
    });

    describe('extra host names', () => {
      it('are added and removed as clients of every age ask for it', async () => {
        const app = await newApp();
        const path = `/apps/${app}/cname`;
        const names = [1, 2, 3, 4].map((n) => `${n}.${app}.example.com`);
        expect((await call('POST', path, { body: { cname: names[0] } })).status).toBe(200);
        expect((await call('POST', path, { body: { cname: [names[1], names[2]] } })).status).toBe(200);
        const form = `cname=${names[3]}&cname=*.${app}.example.org`;
        expect((await call('POST', `/1.0${path}`, { body: form, headers: FORM })).status).toBe(200);
        expect((await show(app)).cname).toEqual([`*.${app}.example.org`, ...names]);
        expect((await call('DELETE', path, { body: { cname: [names[0]] } })).status).toBe(200);
        const query = `?cname=${names[1]}&cname=${names[2]}&cname=*.${app}.example.org`;
        expect((await call('DELETE', `/1.0${path}${query}`)).status).toBe(200);
        expect((await show(app)).cname).toEqual([names[3]]);
        expect((await call('DELETE', path)).status).toBe(200);
        expect((await show(app)).cname).toBeUndefined();
      });

      it('are refused when they are none, taken, or not there', async () => {
        const [one, two] = [await newApp(), await newApp()];
        const body = { cname: [`www.${one}.example.com`] };
        expect((await call('POST', `/apps/${one}/cname`, { body })).status).toBe(200);
        await expectRefused('POST', `/apps/${two}/cname`, { body }, [409, 'cname.taken']);
        await expectRefused('DELETE', `/apps/${two}/cname`, { body }, [404, 'cname.not_found']);
        await expectRefused('POST', `/apps/${two}/cname`, {}, [400, 'cname.invalid']);
        await expectRefused('POST', `/apps/${two}/cname`, { body: { cname: [] } }, [400, 'cname.invalid']);
        await expectRefused('POST', `/apps/${two}/cname`, { body: { cname: ['a b'] } }, [400, 'cname.invalid']);
        await expectRefused('POST', `/apps/${two}/cname`, { body: { cname: [7] } }, [400, 'input.invalid']);
        await expectRefused('POST', `/apps/${two}/cname`, { body: '{"cname"' }, [400, 'input.invalid_json']);
        const own = `x.${(await show(two)).Ip.replace(/:\d+$/, '')}`;
        await expectRefused('POST', `/apps/${two}/cname`, { body: { cname: own } }, [400, 'cname.invalid']);
      });
    });

    it('a rollback goes back to an older release, and the deploys say which', async (test) => {
      if (target.deploy === undefined) return test.skip('this target cannot deploy');
      const app = await newApp(['web']);
      await target.deploy(app, owner.token);
      const list = async () => (await call('GET', `/deploys?app=${app}`)).json as Record<string, unknown>[];
      const [newest, oldest] = await list();
      expect([newest?.['CanRollback'], oldest?.['CanRollback']]).toEqual([false, true]);
      const path = `/apps/${app}/deploy/rollback`;
      const body = new URLSearchParams({ image: String(oldest?.['Image']), origin: 'rollback' }).toString();
      const answer = await call('POST', `/1.0${path}`, { body, headers: FORM });
      expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/x-json-stream']);
      const [rollback] = await list();
      // Each is named by its own release.
      const names = [oldest?.['Image'], newest?.['Image'], rollback?.['Image']];
      expect(names).toEqual([1, 2, 3].map((release) => `${app}:v${release}`));
      expect(rollback).toMatchObject({ Origin: 'rollback', Release: 3, CanRollback: false });
      const detail = (await call('GET', `/a/deploys/${String(newest?.['ID'])}`)).json;
      expect(detail).toMatchObject({ CanRollback: true, Image: newest?.['Image'] });
      expect((await call('POST', `${path}?image=v2`)).status).toBe(200);
      expect((await call('POST', path, { body: { image: 'previous' } })).status).toBe(200);
      await expectRefused('POST', path, { body: { image: 'v99' } }, [404, 'release.not_found']);
      await expectRefused('POST', path, {}, [400, 'input.invalid']);
      await expectRefused('POST', path, { token: stranger }, [403, 'access.denied']);
      await expectRefused('POST', `/apps/${owner.app}/deploy/rollback?image=v1`, {}, [409, 'app.not_deployed']);
    });

    it('what is beyond the specification is served by the union alone', async () => {
      for (const prefix of [EXPECTED.a.prefix, EXPECTED.b.prefix]) {
        for (const path of ['units', 'start', 'stop', 'cname']) {
          expect((await call('POST', `${prefix}/apps/${owner.app}/${path}`)).status).toBe(404);
        }
        expect((await call('POST', `${prefix}/swap`)).status).toBe(405);
      }
    });
  });
}
