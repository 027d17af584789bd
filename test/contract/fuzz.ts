/**
 * Sends what nobody should send to every text field of every operation: no failure of the platform, no silence, nothing
 * undocumented. Whoever can see the machine of the server also looks for the canary afterwards.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Described, idOf } from './document.ts';
import { type Examples, makeExamples } from './examples.ts';
import { type Attack, type Field, fieldsOf } from './fuzz-fields.ts';
import { ENORMOUS, nonsense, payloads, pick, RAW_PARTS } from './fuzz-payloads.ts';
import { type ApiAnswer, ask, login, type Target } from './target.ts';
import { rounds } from '../support/rounds.ts';

export interface FuzzOptions {
  readonly canary: string;
  /** Operations that are left out, with the reason. */
  readonly except?: Readonly<Record<string, string>>;
  /** Per field, beside some of no sense; those of the next field are others. */
  readonly texts: number;
}

const SEED = Number(process.env['TANCHO_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
/** Far beyond what a busy machine needs: what takes longer was made to hang by the text. */
const ANSWER_MS = 60_000;
/** Texts of no sense per field, others with each seed. */
const NONSENSE = rounds(1, 2);
/** Others with each field and seed. */
const RAW_PER_FIELD = rounds(3, RAW_PARTS.length);
/** Of so many fields of a body one gets a megabyte. */
const ONE_OF_FIELDS = rounds(8, 1);
const FAILURE = 'Something went wrong inside the platform.';

export function fuzzChecks(getTarget: () => Target, options: FuzzOptions): void {
  describe('every text field of every operation', () => {
    let target: Target;
    let admin: string;
    let examples: Examples;
    let close = async (): Promise<void> => {};
    afterAll(() => close());
    let operations: readonly Described[];

    beforeAll(async () => {
      target = getTarget();
      admin = await login(target, target.adminEmail, target.adminPassword);
      const made = await makeExamples(target, admin);
      examples = made.examples;
      close = () => made.close();
      // Whoever is removed cannot be asked for afterwards.
      const last = ({ method }: Described): number => (method === 'DELETE' ? 1 : 0);
      operations = target.recorder
        .operations('union')
        .filter((operation) => options.except?.[idOf(operation)] === undefined)
        .toSorted((one, other) => last(one) - last(other));
      const left = Object.entries(options.except ?? {}).map(([id, why]) => `\n  left out: ${id}: ${why}`);
      console.log(`seed ${SEED} (TANCHO_TEST_SEED)${left.join('')}`);
    });

    async function send({ what, method, path, ask: asked }: Attack): Promise<string[]> {
      const begun = performance.now();
      // As the owner of what is asked for; what only admins may is tried once more as one.
      let answer = await ask(target, method, path, { ...asked, token: examples['token'] ?? '' });
      const isAdminOnly = answer.code === 'access.denied' && !/^\/users(\?|$)/.test(path);
      if (isAdminOnly) answer = await ask(target, method, path, { ...asked, token: admin });
      const ms = performance.now() - begun;
      return [...failuresOf(answer), ...(ms > ANSWER_MS ? [`took ${Math.round(ms)} ms`] : [])].map(
        (one) => `${what}: ${one}`,
      );
    }

    async function attackAll(texts: (field: Field, index: number) => readonly string[]): Promise<void> {
      const failures: string[] = [];
      const fields = operations.flatMap(fieldsOf);
      expect(fields.length).toBeGreaterThan(50);
      for (const [index, field] of fields.entries()) {
        for (const text of texts(field, index)) failures.push(...(await send(field.attack(text, examples))));
      }
      expect(failures, `seed ${SEED}`).toEqual([]);
    }

    it('bears texts that are meant to break out', { timeout: 900_000 }, async () => {
      const texts = payloads(options.canary);
      await attackAll((_, index) => [...pick(texts, options.texts, SEED + index), ...nonsense(SEED + index, NONSENSE)]);
    });

    it('bears path parts that are encoded wrongly or twice', () =>
      attackAll(({ place }, index) =>
        place === 'path' ? pick(RAW_PARTS, RAW_PER_FIELD, SEED + index).map((part) => `raw:${part}`) : [],
      ));

    it('bears a megabyte', async () => {
      const ofBodies = operations.flatMap(fieldsOf).filter(({ place }) => place === 'body');
      const fields = pick(ofBodies, ofBodies.length / ONE_OF_FIELDS, SEED);
      const failures: string[] = [];
      for (const field of fields) failures.push(...(await send(field.attack(ENORMOUS, examples))));
      expect(failures, `seed ${SEED}`).toEqual([]);
    });

    it('bears a URL of a megabyte', async () => {
      const path = `/apps/${ENORMOUS}`;
      // The server may hang up on it before all of it has left.
      const status = await ask(target, 'GET', path, { token: admin }).then(
        (answer) => answer.status,
        (error: NodeJS.ErrnoException) => error.code,
      );
      expect([404, 413, 414, 431, 'ECONNRESET', 'EPIPE']).toContain(status);
    });

    it('answers as documented, and is well afterwards', async () => {
      expect([...target.recorder.problems]).toEqual([]);
      expect((await ask(target, 'GET', '/healthcheck')).text).toBe('WORKING');
      expect((await ask(target, 'GET', '/apps', { token: admin })).status).toBe(200);
    });
  });
}

function failuresOf({ status, code, text }: ApiAnswer): string[] {
  // The specification has refusals that are answered with 500; they have codes of their own.
  const isFailure = status >= 500 && (code === undefined || ['internal', 'timeout', 'unavailable'].includes(code));
  if (isFailure) return [`${status} ${code ?? ''} ${text.slice(0, 200)}`];
  return text.includes(FAILURE) ? [`failed late: ${text.slice(-300)}`] : [];
}
