import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { OPERATIONS } from './operations.ts';
import { describeAnswer, methodsAt, routesOf } from './routes.ts';
import { type Variant, VARIANTS } from './variants.ts';

function listing(variant: Variant): string[] {
  return routesOf(variant).map((route) => {
    const path = route.path.slice(variant.prefix.length);
    const { id, access, section } = route.operation;
    return `${route.method.padEnd(6)} ${path}  ${id}  ${access}  ${section ?? '-'}  ${describeAnswer(route)}`;
  });
}

function variant(name: Variant['name']): Variant {
  const found = VARIANTS.find((each) => each.name === name);
  if (found === undefined) throw new Error(name);
  return found;
}

describe('the routes of a variant', () => {
  it.each(VARIANTS)('$name are those of the golden listing (UPDATE_GOLDEN=1 writes it)', async ({ name }) => {
    const file = new URL(`../../test/golden/routes.${name}.txt`, import.meta.url);
    const lines = `${listing(variant(name)).join('\n')}\n`;
    if (process.env['UPDATE_GOLDEN'] === '1') await writeFile(file, lines);
    expect(lines).toBe(await readFile(file, 'utf8'));
  });

  it('differ between A and B exactly as section 9 of the specification says', () => {
    const a = listing(variant('a'));
    const b = listing(variant('b'));
    const path = (line: string): string => line.split(/ +/)[1] ?? '';
    expect(a.filter((line) => !b.includes(line)).map(path)).toEqual([
      '/apps/:app',
      '/apps/:app/log',
      '/apps/:app/pool',
      '/deploys/:deploy',
      '/info',
      '/pools',
      '/users/info',
    ]);
    expect(b.filter((line) => !a.includes(line)).map(path)).toEqual([
      '/apps/:app',
      '/apps/:app/logs',
      '/deploys/:deploy',
      '/tokens',
    ]);
  });

  it('name no operation that does not exist', () => {
    const ids = OPERATIONS.map((operation) => operation.id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { absent, paths } of VARIANTS)
      expect(ids).toEqual(expect.arrayContaining([...absent, ...Object.keys(paths)]));
  });

  it('are found by path, placeholders and all', () => {
    const routes = routesOf(variant('union'));
    expect(methodsAt(routes, '/apps/shop')).toEqual(['DELETE', 'GET', 'POST', 'PUT']);
    expect(methodsAt(routes, '/apps/shop/')).toEqual(['DELETE', 'GET', 'POST', 'PUT']);
    expect(methodsAt(routes, '/apps//env')).toEqual([]);
    expect(methodsAt(routes, '/nothing')).toEqual([]);
    expect(methodsAt(routes, '/apps/shop/no-such-word')).toEqual([]);
    expect(methodsAt(routes, '/apps/shop/teams/crew')).toEqual(['DELETE', 'PUT']);
    expect(methodsAt(routes, '/pool/south/team')).toEqual(['DELETE', 'POST']);
  });
});
