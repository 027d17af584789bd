import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Route, RouteTable } from '../../domain/routes/router.ts';
import { changeBetween, type TableChange } from '../../domain/routes/table-change.ts';
import { checkChange, withChange } from './table-change.ts';

const route = (app: string, note = ''): Route => ({ app, hosts: [`${app}.test`], targets: [], note, https: 'both' });
const many = Array.from({ length: 40 }, (_, at) => route(`app-${at}`));
const table = (version: number, routes: readonly Route[]): RouteTable => ({ version, routes });
/** As it comes over a socket. */
const sent = (change: TableChange): TableChange => checkChange(JSON.parse(JSON.stringify(change)));

it('a change is what is new, and what is gone', () => {
  const next = route('app-3', 'stopped');
  const added = { ...route('app-3'), process: 'admin' };
  const after = table(8, [...many.slice(0, 3), next, ...many.slice(5), added]);
  const change = changeBetween(table(7, many), after);
  expect(change).toEqual({
    ...{ base: 7, version: 8, gone: [4] },
    put: [
      { at: 3, route: next },
      { at: 39, route: added },
    ],
  });
  expect(change && withChange(table(7, many), sent(change))).toEqual(after);
});

it('what stays is the same object, so that nothing has to be made anew for it', () => {
  const change = { base: 7, version: 8, gone: [], put: [{ at: 3, route: route('app-3', 'stopped') }] };
  const made = withChange(table(7, many), change)?.routes ?? [];
  expect(made.filter((one, at) => one === many[at])).toHaveLength(39);
});

it('is none of another table than the one it was made of, and leaves no gap', () => {
  const change = { base: 7, version: 8, gone: [], put: [{ at: 41, route: route('far') }] };
  expect(withChange(table(6, many), change)).toBeNull();
  expect(() => withChange(table(7, many), change)).toThrow('gap');
  for (const bad of [null, {}, { ...change, gone: ['0'] }, { ...change, put: [{ at: -1, route: many[0] }] }])
    expect(() => checkChange(bad)).toThrow();
});

it('where little is the same there is none', () => {
  expect(
    changeBetween(
      table(7, many),
      table(
        8,
        [...many].map((one) => ({ ...one })),
      ),
    ),
  ).toBeNull();
  expect(changeBetween(table(7, []), table(8, many))).toBeNull();
});

it('whatever is changed, the change brings one table to the other', () => {
  const steps = fc.array(fc.tuple(fc.nat(60), fc.constantFrom('put', 'remove')), { maxLength: 8 });
  fc.assert(
    fc.property(steps, (changes) => {
      const routes = new Map(many.map((one) => [one.app, one]));
      for (const [at, what] of changes) {
        if (what === 'remove') routes.delete(`app-${at}`);
        else routes.set(`app-${at}`, route(`app-${at}`, 'new'));
      }
      const [before, after] = [table(7, many), table(8, [...routes.values()])];
      const change = changeBetween(before, after);
      // An app that goes and comes back stands behind all others, which may be too much for a change.
      if (change !== null) expect(withChange(before, sent(change))).toEqual(after);
    }),
  );
});
