/** Checks that every operation gets, made from the server's own OpenAPI document, so that none is forgotten. */
import { beforeAll, describe, expect, it } from 'vitest';
import { type Answer, ask, EXPECTED, login, type Target, VARIANT_NAMES } from './target.ts';

interface Schema {
  readonly type?: string | string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

interface Described {
  readonly method: string;
  readonly path: string;
  readonly operationId: string;
  readonly 'x-access': string;
  readonly 'x-errors': readonly string[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

/** Its last part may be any word, so it makes no path of one that no other operation has. */
const ANY_WORD = '/apps/{app}/{team}';
const ENORMOUS = '1000000000';

export function generatedChecks(getTarget: () => Target): void {
  describe.each(VARIANT_NAMES)('every operation of %s', (variant) => {
    let target: Target;
    let token: string;
    let operations: Described[];

    beforeAll(async () => {
      target = getTarget();
      token = await login(target, target.adminEmail, target.adminPassword);
      operations = await described(target, EXPECTED[variant].prefix);
    });

    async function each(
      wanted: (operation: Described) => boolean,
      check: (operation: Described) => Promise<void>,
    ): Promise<void> {
      const chosen = operations.filter(wanted);
      expect(chosen.length).toBeGreaterThan(0);
      for (const operation of chosen) await check(operation);
    }

    /** Nobody is called this, so nothing is changed even where a check fails. */
    const ask1 = (operation: Described, what: Parameters<typeof ask>[3]): Promise<Answer> =>
      ask(target, operation.method, operation.path.replace(/\{\w+\}/g, 'nobody-is-called-this'), what);
    const named = ({ method, path }: Described): string => `${method} ${path}`;

    it('refuses who has no token, with 401', () =>
      each(isGuarded, async (operation) => {
        const answer = await ask1(operation, {});
        expect([answer.status, answer.code], named(operation)).toEqual([401, 'auth.required']);
        expect(answer.headers['www-authenticate']).toContain('Bearer');
      }));

    it('refuses a token that means nothing, in every form, with 401', () =>
      each(isGuarded, async (operation) => {
        for (const authorization of ['bearer garbage', 'garbage', 'a b c', 'bearer ', `bearer ${'f'.repeat(3_000)}`]) {
          const answer = await ask1(operation, { headers: { authorization } });
          expect([answer.status, answer.code], named(operation)).toEqual([401, 'auth.required']);
        }
      }));

    it('answers malformed JSON with 400', () =>
      each(hasJsonBody, async (operation) => {
        for (const body of ['{"a":', '[1,', '{"a":1}}']) {
          const answer = await ask1(operation, { token, body });
          expect([answer.status, answer.code], named(operation)).toEqual([400, 'input.invalid_json']);
        }
      }));

    it('answers fields of a wrong type with 400', () =>
      each(hasFields, async (operation) => {
        for (const [name, field] of Object.entries(fieldsOf(operation))) {
          const types = String(field.type);
          const noBoolean = types.includes('string') ? { not: 'a string' } : 'not a boolean';
          const wrong = types.includes('object') ? 7 : noBoolean;
          const answer = await ask1(operation, { token, body: { [name]: wrong } });
          expect([answer.status, answer.code], `${named(operation)} ${name}`).toEqual([400, 'input.invalid']);
        }
      }));

    it('ignores fields it does not know', () =>
      each(hasFields, async (operation) => {
        const answer = await ask1(operation, { token, body: { 'no-such-field': { deep: [1] } } });
        expect(answer.code, named(operation)).not.toMatch(/^input\./);
      }));

    it('never says 415, whatever a body is labelled', () =>
      each(hasFields, async (operation) => {
        for (const type of ['garbage', 'text/xml', 'application/x-www-form-urlencoded', ';;', 'multipart/form-data']) {
          const answer = await ask1(operation, { token, body: {}, headers: { 'content-type': type } });
          expect(answer.status, named(operation)).not.toBe(415);
          expect(answer.code, named(operation)).not.toMatch(/^input\./);
        }
      }));

    it('refuses a body that is too large, with 413', () =>
      each(hasBody, async (operation) => {
        const answer = await ask1(operation, { token, headers: { 'content-length': ENORMOUS } });
        expect([answer.status, answer.code], named(operation)).toEqual([413, 'input.too_large']);
      }));

    it('answers a wrong method with 405 and the right ones', () =>
      each(
        () => true,
        async (operation) => {
          const answer = await ask1(operation, { token, headers: {} });
          expect(answer.headers['x-request-id'], named(operation)).toMatch(/./);
          const wrong = await ask(target, 'PATCH', operation.path.replace(/\{\w+\}/g, 'x'), { token });
          if (operation.path === ANY_WORD) {
            expect([wrong.status, wrong.code], named(operation)).toEqual([404, 'route.not_found']);
            return;
          }
          expect([wrong.status, wrong.code], named(operation)).toEqual([405, 'route.method_not_allowed']);
          expect(String(wrong.headers.allow).split(', '), named(operation)).toContain(operation.method);
        },
      ));

    it('fails only with codes that it announces', () =>
      each(
        () => true,
        async (operation) => {
          const answer = await ask1(operation, { token, body: '{"a":1}' });
          if (answer.status > 399) expect(operation['x-errors'], named(operation)).toContain(answer.code);
        },
      ));

    it('refuses what another web site makes a browser send', () =>
      each(
        ({ method, operationId }) => method !== 'GET' || operationId.startsWith('apps.restart'),
        async (operation) => {
          const answer = await ask1(operation, { token, body: {}, headers: { 'sec-fetch-site': 'cross-site' } });
          expect([answer.status, answer.code], named(operation)).toEqual([403, 'access.denied']);
        },
      ));
  });
}

const isGuarded = (operation: Described): boolean => operation['x-access'] !== 'public';
const hasBody = (operation: Described): boolean => operation.requestBody !== undefined;
/** A GET's body is only tolerated. */
const hasJsonBody = (operation: Described): boolean =>
  operation.method !== 'GET' && operation.requestBody?.content['application/json'] !== undefined;
const fieldsOf = (operation: Described): Readonly<Record<string, Schema>> =>
  operation.requestBody?.content['application/json']?.schema.properties ?? {};
const hasFields = (operation: Described): boolean => Object.keys(fieldsOf(operation)).length > 0;

/** Logout and the removal of oneself are left out: they would end the checks themselves. */
async function described(target: Target, prefix: string): Promise<Described[]> {
  const document = (await ask(target, 'GET', `${prefix}/openapi.json`)).json as {
    openapi: string;
    paths: Record<string, Record<string, Omit<Described, 'method' | 'path'>>>;
  };
  expect(document.openapi).toBe('3.1.0');
  return Object.entries(document.paths)
    .flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({
        ...operation,
        method: method.toUpperCase(),
        path: prefix + path,
      })),
    )
    .filter(({ operationId }) => !['users.logout', 'users.remove'].includes(operationId));
}
