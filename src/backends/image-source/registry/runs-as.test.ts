import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RootTree } from './root-tree.ts';
import { type RunsAs, runsAs } from './runs-as.ts';

describe('an image runs as', () => {
  let root = '';
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'runs-as-'));
    for (const name of ['etc', 'root']) mkdirSync(join(root, name));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const linesOf = (name: string): string[][] => {
    const text = readFileSync(join(root, 'etc', name), 'utf8').trim();
    return text.split('\n').map((line) => line.split(':'));
  };

  it.each<[string, string, string, RunsAs]>([
    ['nobody in particular', '', 'root:x:0:0::/root:/bin/sh\n', { uid: 1000, gid: 1000, home: '/root', name: 'app' }],
    ['root', '0:0', '', { uid: 1000, gid: 1000, home: '/root', name: 'app' }],
    ['a number', '5000', '', { uid: 5000, gid: 5000, home: '/', name: 'app' }],
    [
      'a number where the name is taken',
      '5000',
      'app:x:7:7::/:\n',
      { uid: 5000, gid: 5000, home: '/', name: 'app5000' },
    ],
    [
      'a home of very many parts',
      'web',
      `web:x:33:34::${'/'.repeat(900_000)}:`,
      { uid: 33, gid: 34, home: '/', name: 'web' },
    ],
    ['numbers', '5000:0', 'x:y:z', { uid: 5000, gid: 0, home: '/', name: 'app' }],
    ['a number with a name', '33', 'web:x:33:34::/root:', { uid: 33, gid: 34, home: '/root', name: 'web' }],
    ['a name and a group', 'web:staff', 'web:x:33:34::/nowhere:', { uid: 33, gid: 50, home: '/', name: 'web' }],
  ])('%s, who has an entry then, and so has the group', async (_, wanted, passwd, expected) => {
    writeFileSync(join(root, 'etc/passwd'), passwd);
    writeFileSync(join(root, 'etc/group'), 'staff:x:50:');
    expect(await runsAs(new RootTree(root), wanted)).toEqual(expected);
    expect(readFileSync(join(root, 'etc/passwd'), 'utf8').startsWith(passwd)).toBe(true);
    const user = linesOf('passwd').filter(([, , uid]) => uid === `${expected.uid}`);
    expect(user.map(([name]) => name)).toEqual([expected.name]);
    expect(linesOf('group')[0]).toEqual(['staff', 'x', '50', '']);
    expect(linesOf('group').filter(([, , gid]) => gid === `${expected.gid}`)).toHaveLength(1);
  });

  it('somebody it knows by the files that it has, or by new ones', async () => {
    expect(await runsAs(new RootTree(root), '5000')).toMatchObject({ name: 'app', home: '/' });
    expect(linesOf('passwd')).toEqual([['app', 'x', '5000', '5000', '', '/', '/bin/sh']]);
    expect(linesOf('group')).toEqual([['app', 'x', '5000', '']]);
  });
});
