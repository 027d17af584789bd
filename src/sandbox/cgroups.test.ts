import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hierarchies, unifiedBase } from './cgroup-probe.ts';
import { Cgroups, limitFiles } from './cgroups.ts';

const limits = { memoryBytes: 1024, cpuMillis: 1500, processes: 20 };

describe('limitFiles', () => {
  it('writes the files of version 2', () => {
    const base = { version: 2, path: '/x', controllers: ['memory', 'cpu', 'pids'] } as const;
    expect(limitFiles(base, limits)).toEqual([
      ['memory.max', '1024'],
      ['memory.swap.max', '0'],
      ['memory.oom.group', '1'],
      ['cpu.max', '150000 100000'],
      ['pids.max', '20'],
    ]);
    expect(limitFiles(base, { memoryBytes: 0, cpuMillis: 0, processes: 0 })).toEqual([]);
  });

  it('writes the files of version 1, of its own controllers only', () => {
    expect(limitFiles({ version: 1, path: '/x', controllers: ['cpu'] }, limits)).toEqual([
      ['cpu.cfs_period_us', '100000'],
      ['cpu.cfs_quota_us', '150000'],
    ]);
    expect(limitFiles({ version: 1, path: '/x', controllers: ['memory'] }, limits)).toEqual([
      ['memory.limit_in_bytes', '1024'],
      ['memory.memsw.limit_in_bytes', '1024'],
      ['memory.kmem.tcp.limit_in_bytes', '128'],
    ]);
  });
});

it.each([
  [1, 25, 'cpu.shares', '256'],
  [2, 25, 'cpu.weight', '25'],
  [1, 1_000_000, 'cpu.shares', '262144'],
  [2, 1_000_000, 'cpu.weight', '10000'],
] as const)('limitFiles weighs the processor, in version %i a share of %i', (version, cpuShare, file, value) => {
  const free = { memoryBytes: 0, cpuMillis: 0, processes: 0 };
  const base = { version, path: '/x', controllers: ['cpu'] } as const;
  expect(limitFiles(base, { ...free, cpuShare })).toEqual([[file, value]]);
  expect(limitFiles(base, free)).toEqual([]);
  expect(limitFiles(base, { ...free, cpuShare: 0 })).toEqual([]);
});

describe('hierarchies', () => {
  it('reads a unified machine', () => {
    const mounts = '30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n';
    expect(hierarchies(mounts, '0::/system.slice/tancho.service\n')).toEqual([
      {
        version: 2,
        controllers: [],
        candidates: ['/sys/fs/cgroup', '/sys/fs/cgroup/system.slice', '/sys/fs/cgroup/system.slice/tancho.service'],
      },
    ]);
  });

  it('reads version 1 inside a container, where the mount shows only a part', () => {
    const mounts = [
      '31 30 0:27 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory',
      '32 30 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct',
      '33 30 0:29 / /sys/fs/cgroup/freezer rw - cgroup cgroup rw,freezer',
    ].join('\n');
    expect(hierarchies(mounts, '4:memory:/docker/abc\n3:cpu,cpuacct:/\n0::/\n')).toEqual([
      { version: 1, controllers: ['memory'], candidates: ['/sys/fs/cgroup/memory'] },
      { version: 1, controllers: ['cpu'], candidates: ['/sys/fs/cgroup/cpu,cpuacct'] },
    ]);
  });
});

describe('groups on version 2 (plain files stand for the kernel)', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'tancho-groups-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it('hands the controllers on, sets the limits, takes a process in and reads who is inside and what was killed', () => {
    const path = join(directory, 'tancho');
    const cgroups = new Cgroups([{ version: 2, path, controllers: ['memory', 'pids'] }]);
    const group = join(path, 'web_1');
    mkdirSync(group, { recursive: true });
    for (const file of ['memory.swap.max', 'memory.oom.group']) writeFileSync(join(group, file), '');
    cgroups.create('web/1', limits);
    cgroups.join('web/1', 77);
    expect(readFileSync(join(path, 'cgroup.subtree_control'), 'utf8')).toBe('+memory +pids');
    expect(readFileSync(join(group, 'memory.max'), 'utf8')).toBe('1024');
    expect(readFileSync(join(group, 'memory.oom.group'), 'utf8')).toBe('1');
    expect(existsSync(join(group, 'cpu.max'))).toBe(false);
    expect(cgroups.pids('web/1')).toEqual([77]);
    expect(cgroups.outOfMemory('web/1')).toBe(false);
    writeFileSync(join(group, 'memory.events'), 'oom 1\noom_kill 1\n');
    expect(cgroups.outOfMemory('web/1')).toBe(true);
    expect([cgroups.has('memory'), cgroups.has('cpu'), cgroups.version]).toEqual([true, false, 2]);
  });

  it('takes the base in which units of an earlier run live', () => {
    const path = join(directory, 'tancho');
    mkdirSync(join(path, 'u1'), { recursive: true });
    for (const parent of [directory, path]) {
      writeFileSync(join(parent, 'cgroup.controllers'), 'cpuset cpu memory pids\n');
      writeFileSync(join(parent, 'cgroup.subtree_control'), 'cpu memory pids\n');
    }
    expect(unifiedBase(directory)).toMatchObject({ version: 2, path, controllers: ['memory', 'cpu', 'pids'] });
    expect(existsSync(join(path, 'u1'))).toBe(true);
  });

  it('still looks where an earlier run made its groups', () => {
    const earlier = { version: 2, path: join(directory, 'old'), controllers: ['memory'] } as const;
    mkdirSync(join(earlier.path, 'u1'), { recursive: true });
    writeFileSync(join(earlier.path, 'u1', 'cgroup.procs'), '5\n6\n');
    const cgroups = new Cgroups([{ ...earlier, path: join(directory, 'new') }], [earlier]);
    expect(cgroups.pids('u1')).toEqual([5, 6]);
    expect(cgroups.bases).toHaveLength(2);
  });
});
