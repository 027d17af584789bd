import { expect, it } from 'vitest';
import type { Route, RouteTable } from '../../domain/routes/router.ts';
import type { EdgeRequest } from '../control/operations.ts';
import { withChange } from '../control/table-change.ts';
import { Translated } from './translated.ts';

/** An edge that serves by a table of its own count. */
function edgeAt(version: number): { readonly act: (request: EdgeRequest) => Promise<unknown>; table: RouteTable } {
  const edge = {
    table: { version, routes: [] as readonly Route[] },
    async act(request: EdgeRequest): Promise<unknown> {
      if (request.op === 'hello') return { version: edge.table.version };
      if (request.op === 'apply') edge.table = request.table.version > edge.table.version ? request.table : edge.table;
      if (request.op !== 'change') return { persisted: true };
      const changed = withChange(edge.table, request.change);
      if (changed !== null) edge.table = changed;
      return changed === null ? null : { persisted: true };
    },
  };
  return edge;
}

const route = (app: string, unit: string): Route => ({
  ...{ app, hosts: [`${app}.test`], note: '', https: 'both' },
  targets: [{ unit, host: '10.0.0.1', port: 80, process: { pid: 7, start: '1' } }],
});
const units = ({ table }: { readonly table: RouteTable }): string[] =>
  table.routes.flatMap(({ targets }) => targets.map(({ unit }) => unit));

it('the table of a server whose versions are smaller than those of the one before is taken all the same', async () => {
  const edge = edgeAt(0);
  await new Translated(edge.act).act({ op: 'apply', table: { version: 90_000, routes: [route('shop', 'old')] } });
  const other = new Translated(edge.act);
  await other.act({ op: 'apply', table: { version: 40, routes: [route('shop', 'new')] } });
  expect(units(edge)).toEqual(['new']);
  expect(await other.act({ op: 'hello' })).toEqual({ version: 40 });
});

it('a change is of the table that this connection has brought, and of no other', async () => {
  const edge = edgeAt(5);
  const change = { base: 7, version: 8, gone: [], put: [{ at: 0, route: route('shop', 'two') }] };
  const server = new Translated(edge.act);
  expect(await server.act({ op: 'change', change })).toBeNull();
  await server.act({ op: 'apply', table: { version: 7, routes: [route('shop', 'one')] } });
  expect(await server.act({ op: 'change', change })).toMatchObject({ version: 8 });
  expect(units(edge)).toEqual(['two']);
});

it('a change by a server that is followed no more is not made of the table of another one', async () => {
  const edge = edgeAt(0);
  const [before, after] = [new Translated(edge.act), new Translated(edge.act)];
  await before.act({ op: 'apply', table: { version: 7, routes: [route('shop', 'old')] } });
  await after.act({ op: 'apply', table: { version: 3, routes: [route('shop', 'new')] } });
  const change = { base: 7, version: 8, gone: [], put: [{ at: 0, route: route('shop', 'older') }] };
  expect(await before.act({ op: 'change', change })).toBeNull();
  expect(units(edge)).toEqual(['new']);
});

it('processes of another machine are not looked for here', async () => {
  const edge = edgeAt(0);
  await new Translated(edge.act).act({ op: 'apply', table: { version: 1, routes: [route('shop', 'one')] } });
  expect(edge.table.routes[0]?.targets).toEqual([{ unit: 'one', host: '10.0.0.1', port: 80 }]);
});

it('no server elsewhere has a program started here', async () => {
  const program = { execPath: '/bin/true', args: [] };
  const asked = new Translated(edgeAt(0).act).act({ op: 'succeed', program, listeners: { plain: 'ours' } });
  await expect(asked).rejects.toThrow('not for a server elsewhere');
});
