/**
 * Checks that every operation gets, made from the server's own OpenAPI document, so that none is forgotten; with TANCHO_TEST_SLOW=1 all of them,
 * without it those that are much the same for all ask every third operation.
 */
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ALL_ROUNDS } from '../support/rounds.ts';
import { SLOW } from '../support/slow.ts';
import { type Described, idOf, type Schema } from './document.ts';
import { exampleBody, examplePath, makeExamples } from './examples.ts';
import type { VariantName } from './recorder.ts';
import { type ApiAnswer, ask, EXPECTED, login, somebody, type Target, VARIANT_NAMES } from './target.ts';

/** Its last part may be any word, so it makes no path of one that no other operation has. */
const ANY_WORD = '/apps/{app}/{team}';
const ENORMOUS = '1000000000';

/** What does not depend on the operation: one form after the other, in all rounds each of them for each operation. */
const inTurn = <T>(forms: readonly T[], index: number): readonly T[] =>
  ALL_ROUNDS ? forms : forms.slice(index % forms.length, (index % forms.length) + 1);

const TOKENS = ['bearer garbage', 'garbage', 'a b c', 'bearer ', `bearer ${'f'.repeat(3_000)}`];
const MALFORMED = ['{"a":', '[1,', '{"a":1}}'];
const LABELS = ['garbage', 'text/xml', 'application/x-www-form-urlencoded', ';;', 'multipart/form-data'];

/** The union has every operation; where there is time, all are asked under each prefix. */
const VARIANTS = SLOW ? VARIANT_NAMES : (['union'] as const);

/** Of the operations that a check asks which for is all the same to it. */
const STRIDE = SLOW ? 1 : 3;

export function generatedChecks(getTarget: () => Target, variants: readonly VariantName[] = VARIANTS): void {
  describe.each(variants)('every operation of %s', (variant) => {
    let target: Target;
    let token: string;
    let operations: readonly Described[];
    let turn = 0;
    const { prefix } = EXPECTED[variant];

    beforeAll(async () => {
      target = getTarget();
      token = await login(target, target.adminEmail, target.adminPassword);
      operations = described(target, variant);
    });

    async function each(
      wanted: (operation: Described) => boolean,
      check: (operation: Described, index: number) => Promise<void>,
    ): Promise<void> {
      const chosen = operations.filter(wanted);
      expect(chosen.length).toBeGreaterThan(0);
      for (const [index, operation] of chosen.entries()) await check(operation, index);
    }

    /** As each(), but each third operation where there is little time, and others than the check before. */
    async function some(
      wanted: (operation: Described) => boolean,
      check: (operation: Described, index: number) => Promise<void>,
    ): Promise<void> {
      const at = turn++ % STRIDE;
      await each(wanted, async (operation, index) => {
        if (index % STRIDE === at) await check(operation, Math.floor(index / STRIDE));
      });
    }

    /** Nobody is called this, so nothing is changed even where a check fails. */
    const pathOf = ({ path }: Described): string => prefix + path.replace(/\{\w+\}/g, 'nobody-is-called-this');
    const ask1 = (operation: Described, what: Parameters<typeof ask>[3]): Promise<ApiAnswer> =>
      ask(target, operation.method, pathOf(operation), what);
    const named = ({ method, path }: Described): string => `${method} ${path}`;

    it('refuses who has no token, with 401', () =>
      each(isGuarded, async (operation) => {
        const answer = await ask1(operation, {});
        expect([answer.status, answer.code], named(operation)).toEqual([401, 'auth.required']);
        expect(answer.headers['www-authenticate']).toContain('Bearer');
      }));

    it('refuses a token that means nothing, in every form, with 401', () =>
      some(isGuarded, async (operation, index) => {
        for (const authorization of inTurn(TOKENS, index)) {
          const answer = await ask1(operation, { headers: { authorization } });
          expect([answer.status, answer.code], named(operation)).toEqual([401, 'auth.required']);
        }
      }));

    it('answers malformed JSON with 400', () =>
      some(hasJsonBody, async (operation, index) => {
        for (const body of inTurn(MALFORMED, index)) {
          const answer = await ask1(operation, { token, body });
          expect([answer.status, answer.code], named(operation)).toEqual([400, 'input.invalid_json']);
        }
      }));

    it('answers fields of a wrong type with 400', () =>
      some(hasFields, async (operation) => {
        for (const [name, field] of Object.entries(fieldsOf(operation))) {
          const types = String(field.type);
          const noBoolean = types.includes('string') ? { not: 'a string' } : 'not a boolean';
          const wrong = types.includes('object') ? 7 : noBoolean;
          const answer = await ask1(operation, { token, body: { [name]: wrong } });
          expect([answer.status, answer.code], `${named(operation)} ${name}`).toEqual([400, 'input.invalid']);
        }
      }));

    it('ignores fields it does not know', () =>
      some(hasFields, async (operation) => {
        const answer = await ask1(operation, { token, body: { 'no-such-field': { deep: [1] } } });
        expect(answer.code ?? '', named(operation)).not.toMatch(/^input\./);
      }));

    it('never says 415, whatever a body is labelled', () =>
      some(isAny, async (operation, index) => {
        for (const type of inTurn(LABELS, index)) {
          const answer = await ask1(operation, { token, body: '{}', headers: { 'content-type': type } });
          expect(answer.status, named(operation)).not.toBe(415);
          if (hasFields(operation)) expect(answer.code ?? '', named(operation)).not.toMatch(/^input\./);
        }
      }));

    it('answers a parameter that is given twice, and may not be, with 400', () =>
      some(
        ({ parameters }) => parameters.some(isSingle),
        async (operation) => {
          for (const { name } of operation.parameters.filter(isSingle)) {
            const answer = await ask(target, operation.method, `${pathOf(operation)}?${name}=a&${name}=b`, { token });
            expect([answer.status, answer.code], `${named(operation)} ${name}`).toEqual([400, 'input.invalid']);
          }
        },
      ));

    it('ignores parameters it does not know', () =>
      some(isUnthrottled, async (operation) => {
        const plain = await ask1(operation, { token });
        const more = await ask(target, operation.method, `${pathOf(operation)}?no-such=1&no-such=2`, { token });
        expect([more.status, more.code], named(operation)).toEqual([plain.status, plain.code]);
      }));

    it("keeps strangers out of what is another team's, with 403 or 404", async () => {
      const { examples, close } = await makeExamples(target, token);
      onTestFinished(close);
      const stranger = (await somebody(target, token)).token;
      await each(
        (operation) => isGuarded(operation) && operation.path.includes('{'),
        async (operation) => {
          const path = prefix + examplePath(operation, examples);
          const answer = await ask(target, operation.method, path, { token: stranger, ...exampleBody(operation) });
          expect([403, 404], `${named(operation)}: ${answer.status} ${answer.text}`).toContain(answer.status);
        },
      );
    });

    it('refuses a body that is too large, with 413', () =>
      some(isAny, async (operation) => {
        const answer = await ask1(operation, { token, headers: { 'content-length': ENORMOUS } });
        expect([answer.status, answer.code], named(operation)).toEqual([413, 'input.too_large']);
      }));

    it('does not take a path whose last name is missing for the shorter one', () =>
      some(
        ({ method }) => method !== 'GET',
        async (operation) => {
          for (const end of ['/', '/?force=true']) {
            const answer = await ask(target, operation.method, pathOf(operation) + end, { token });
            expect([answer.status, answer.code], named(operation)).toEqual([404, 'route.not_found']);
          }
        },
      ));

    it('answers a wrong method with 405 and the right ones', () =>
      some(
        () => true,
        async (operation) => {
          const answer = await ask1(operation, { token, headers: {} });
          expect(answer.headers['x-request-id'], named(operation)).toMatch(/./);
          const wrong = await ask(target, 'PATCH', prefix + operation.path.replace(/\{\w+\}/g, 'x'), { token });
          if (operation.path === ANY_WORD) {
            expect([wrong.status, wrong.code], named(operation)).toEqual([404, 'route.not_found']);
            return;
          }
          expect([wrong.status, wrong.code], named(operation)).toEqual([405, 'route.method_not_allowed']);
          expect(String(wrong.headers.allow).split(', '), named(operation)).toContain(operation.method);
        },
      ));

    it('fails only with codes that it announces', () =>
      some(
        () => true,
        async (operation) => {
          const answer = await ask1(operation, { token, body: '{"a":1}' });
          if (answer.status > 399) expect(operation['x-errors'], named(operation)).toContain(answer.code);
        },
      ));

    it('refuses what another web site makes a browser send', () =>
      some(
        ({ method, operationId }) => method !== 'GET' || operationId.startsWith('apps.restart'),
        async (operation) => {
          const answer = await ask1(operation, { token, body: {}, headers: { 'sec-fetch-site': 'cross-site' } });
          expect([answer.status, answer.code], named(operation)).toEqual([403, 'access.denied']);
        },
      ));
  });
}

const isGuarded = (operation: Described): boolean => operation['x-access'] !== 'public';
const isAny = (): boolean => true;
/** Asked twice in vain, the others may refuse to listen. */
const isUnthrottled = (operation: Described): boolean => !operation['x-errors'].includes('auth.throttled');
const isSingle = ({ in: place, schema }: Described['parameters'][number]): boolean =>
  place === 'query' && schema.type === 'string';
/** A GET's body is only tolerated. */
const hasJsonBody = (operation: Described): boolean =>
  operation.method !== 'GET' && operation.requestBody?.content['application/json'] !== undefined;
const fieldsOf = (operation: Described): Readonly<Record<string, Schema>> =>
  operation.requestBody?.content['application/json']?.schema?.properties ?? {};
const hasFields = (operation: Described): boolean => Object.keys(fieldsOf(operation)).length > 0;

/** Logouts and the removal of oneself are left out: they would end the checks themselves. */
function described(target: Target, variant: (typeof VARIANT_NAMES)[number]): Described[] {
  const operations = target.recorder.operations(variant);
  return operations.filter(
    (operation) => !['users.logout', 'users.logout_everywhere', 'users.remove'].includes(idOf(operation)),
  );
}
