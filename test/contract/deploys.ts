/** Specification 4.10 and 4.11: deploys and metadata, where the variants differ most; errors on the wire. */
import { beforeAll, describe, expect, it } from 'vitest';
import { ask, EXPECTED, login, somebody, somebodyWithApp, type Target, VARIANT_NAMES } from './target.ts';

export function deploysContract(getTarget: () => Target): void {
  describe.each(VARIANT_NAMES)('deploys and metadata of %s', (variant) => {
    const { prefix, info, detail } = EXPECTED[variant];
    let target: Target;
    let owner: Awaited<ReturnType<typeof somebodyWithApp>>;
    let stranger: string;

    beforeAll(async () => {
      target = getTarget();
      const admin = await login(target, target.adminEmail, target.adminPassword);
      owner = await somebodyWithApp(target, admin);
      stranger = (await somebody(target, admin)).token;
    });

    const get = (path: string, token = owner.token) => ask(target, 'GET', prefix + path, { token });

    it('has an empty list before the first deploy [deploys.list]', async () => {
      const answer = await get(`/deploys?app=${owner.app}&limit=10`);
      expect([answer.status, answer.json]).toEqual([200, []]);
      expect((await get(`/deploys?app=${owner.app}`, stranger)).status).toBe(403);
      expect((await get('/deploys?app=no-such-app')).code).toBe('app.not_found');
      expect((await get('/deploys?limit=many')).code).toBe('input.invalid');
      expect((await get('/deploys/ffffffffffffffffffffffff')).code).toBe('deploy.not_found');
      expect((await get('/deploys/not-an-id')).code).toBe('deploy.not_found');
    });

    it('lists and shows deploys in the shape of the variant [deploys.list deploys.info]', async (test) => {
      if (target.deploy === undefined) return test.skip('this target cannot deploy');
      await target.deploy(owner.app, owner.token);
      const [listed] = (await get(`/deploys?app=${owner.app}`)).json as Record<string, unknown>[];
      expect(listed).toMatchObject({ App: owner.app, Error: '', Commit: expect.any(String) as string });
      expect(listed?.['Timestamp']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/);
      expect(listed?.['Duration']).toSatisfy(Number.isInteger);
      if (variant !== 'union') {
        expect(Object.keys(listed ?? {})).toEqual(['ID', 'App', 'Timestamp', 'Duration', 'Commit', 'Error']);
      }
      const shown = (await get(`/deploys/${String(listed?.['ID'])}`)).json as Record<string, unknown>;
      const differing = ['ID', 'Id', 'Image', 'Diff'].filter((name) => name in shown);
      expect(differing).toEqual(detail);
      expect(detail.map((name) => shown[name.toUpperCase() === 'ID' ? name : 'App'])).toContain(listed?.['ID']);
      if ('Image' in shown) expect(shown).toMatchObject({ RemoveDate: '0001-01-01T00:00:00Z', CanRollback: false });
      // Whether a deploy of others is there is none of a stranger's business.
      expect((await get(`/deploys/${String(listed?.['ID'])}`, stranger)).code).toBe('deploy.not_found');
    });

    it('shows its version to anybody, where the variant has it [metadata.info]', async () => {
      const answer = await ask(target, 'GET', `${prefix}/info`);
      expect(answer.status).toBe(info);
      if (info === 200) expect(answer.json).toEqual({ version: expect.any(String) as string });
    });

    it('says what went wrong in plain text, or as a problem document to those who accept JSON', async () => {
      const plain = await get('/apps/no-such-app');
      expect(plain.headers['content-type']).toBe('text/plain; charset=utf-8');
      expect(plain.text).toMatch(/^App no-such-app not found\.\n/);
      const accept = 'application/json, text/plain, */*';
      const problem = await ask(target, 'GET', `${prefix}/apps/no-such-app`, {
        token: owner.token,
        headers: { accept },
      });
      expect(problem.headers['content-type']).toBe('application/problem+json');
      expect(problem.json).toMatchObject({
        type: 'urn:tancho:error:app.not_found',
        title: 'Not Found',
        status: 404,
        detail: 'App no-such-app not found.',
        code: 'app.not_found',
        requestId: problem.headers['x-request-id'],
      });
    });

    it('describes itself to programs and to people', async () => {
      const document = await get('/openapi.json');
      expect([document.status, document.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
      const page = await ask(target, 'GET', `${prefix}/docs?q=deploys`);
      expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
      expect(page.headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'self';/);
      expect(page.text).toContain('id="deploys.info"');
      const style = /<link rel="stylesheet" href="([^"]+)">/.exec(page.text)?.[1] ?? '';
      expect((await ask(target, 'GET', style)).headers['content-type']).toBe('text/css; charset=utf-8');
      expect((await ask(target, 'POST', `${prefix}/docs`)).code).toBe('route.method_not_allowed');
    });

    it('answers HEAD like GET, without the body', async () => {
      for (const path of ['/openapi.json', '/docs', '/platforms', '/apps']) {
        const head = await ask(target, 'HEAD', prefix + path, { token: owner.token });
        const whole = await get(path);
        expect([head.status, head.text], path).toEqual([200, '']);
        for (const name of ['content-type', 'content-length']) expect(head.headers[name]).toBe(whole.headers[name]);
      }
    });

    it('has nothing at unknown paths, and says where to look', async () => {
      const answer = await get('/no/such/path');
      expect([answer.status, answer.code]).toEqual([404, 'route.not_found']);
      expect(answer.text).toContain('/openapi.json');
      expect((await get('/apps//env')).code).toBe('route.not_found');
    });
  });

  it('takes paths with a version in front, as later clients send them', async () => {
    const target = getTarget();
    expect((await ask(target, 'GET', '/1.0/info')).status).toBe(200);
    expect((await ask(target, 'GET', '/a/1.0/info')).status).toBe(200);
    expect((await ask(target, 'GET', '/2.0/info')).status).toBe(404);
    expect((await ask(target, 'GET', '/healthcheck')).text).toBe('WORKING');
  });
}
