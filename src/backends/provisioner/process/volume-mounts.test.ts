/** What units, commands and images see of volumes at each isolation level, and what is refused. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { skipFor } from '../../../../test/support/skips.ts';
import { QUICK_NETWORK } from '../../../../test/support/slow.ts';
import { until } from '../../../../test/support/until.ts';
import { DiskWriters } from '../../../domain/disk/disk-writers.ts';
import type { UnitSpec } from '../../../domain/units/provisioner.ts';
import { Failure } from '../../../domain/failure.ts';
import type { Sandbox, SandboxLevel, SandboxProcess } from '../../../sandbox/sandbox.ts';
import { createHomeSurvey } from '../../disk-survey/home/home-survey.ts';
import { createProcessWorld, levelsToTest, type ProcessWorld } from './provisioner-world.ts';
import { itLong } from '../../../../test/support/long-cases.ts';

const LEVELS: readonly SandboxLevel[] = ['bubblewrap', 'user', 'plain'];
const MIB = 1024 ** 2;
const NEVER = new AbortController().signal;
const BUSYBOX = ['/bin/busybox', '/usr/bin/busybox'].find((file) => existsSync(file));
const isRoot = process.getuid?.() === 0;

for (const [name, level] of await levelsToTest(LEVELS, QUICK_NETWORK)) {
  if (typeof level === 'string') {
    it(`volumes at level ${name}`, ({ skip }) => skip(level));
    continue;
  }
  describe(`volumes at level ${name}`, () => {
    let world: ProcessWorld;
    beforeEach(async () => {
      world = await createProcessWorld(level);
    });
    afterEach(() => world.dispose());
    afterAll(() => level.dispose());

    function spec(command: string, volumes: UnitSpec['volumes'], changes: Partial<UnitSpec> = {}): UnitSpec {
      return {
        ...{
          id: 'ffffffffffff',
          app: 'shop',
          name: 'shop/0',
          process: 'web',
          artifact: 'slug1',
          env: {},
          listens: false,
        },
        limits: { memoryBytes: 0, cpuMillis: 0, processes: 0 },
        command,
        ...(volumes !== undefined && { volumes }),
        ...changes,
      };
    }

    async function outputOf(unit: UnitSpec): Promise<string> {
      await world.provisioner.ensure(unit);
      const lines: string[] = [];
      for await (const chunk of world.provisioner.output(unit.id, null, AbortSignal.timeout(60_000))) {
        lines.push(...chunk.lines.map(({ text }) => text));
      }
      await world.provisioner.remove(unit.id);
      return lines.join('\n');
    }

    async function run(command: string, volumes: UnitSpec['volumes'], artifact = 'slug1'): Promise<string> {
      let text = '';
      const output = (bytes: Uint8Array): void => void (text += Buffer.from(bytes).toString());
      const unit = spec('', volumes, { id: 'eeeeeeeeeeee', artifact });
      await world.provisioner.exec({ unit, command, output, signal: NEVER, timeoutMs: 180_000 });
      return text.trim();
    }

    async function failureOf(work: Promise<unknown>): Promise<Failure> {
      const thrown = await work.catch((error: unknown) => error);
      if (thrown instanceof Failure) return thrown;
      throw new Error(`expected a Failure, not ${String(thrown)}`);
    }

    it(
      'that units may read only are written by commands all the same',
      skipFor(name !== 'bubblewrap' && 'only bubblewrap mounts what units may only read'),
      async () => {
        const directory = await world.addVolume('data');
        const volumes = [{ name: 'data', path: 'data' }];
        writeFileSync(join(directory, '..', '.data.read-only'), '');
        expect(await run('echo there > data/file; cat data/file', volumes)).toBe('there');
        expect(await outputOf(spec('cat data/file; echo more 2>&1 > data/file; cat data/file', volumes))).toMatch(
          /^there\n.*Read-only file system\nthere$/,
        );
        await world.provisioner.ensure(spec('sleep 1000', volumes));
        expect(await world.provisioner.list()).toMatchObject([{ state: 'running', readOnly: ['data'] }]);
      },
    );

    it('below the code: what a unit writes is there for the next one, of other code too, and for commands', async () => {
      const directory = await world.addVolume('data');
      const volumes = [{ name: 'data', path: 'var/data' }];
      expect(await outputOf(spec('echo kept > var/data/file && ls var', volumes))).toBe('data');
      expect(readFileSync(join(directory, 'file'), 'utf8')).toBe('kept\n');
      world.addSlug('slug2');
      expect(await outputOf(spec('cat var/data/file', volumes, { artifact: 'slug2', id: 'dddddddddddd' }))).toBe(
        'kept',
      );
      expect(await run('echo more >> var/data/file; cat var/data/file', volumes)).toBe('kept\nmore');
      expect(await run('ls', undefined)).not.toContain('more');
      expect(await world.provisioner.writtenData('ffffffffffff')).toEqual([]);
    });

    itLong('what a command writes into one is counted as its own, and what was there before is not', async () => {
      await world.dispose();
      const survey = createHomeSurvey({ home: level.home });
      const counted: string[] = [];
      const writers = new DiskWriters({
        async directories(paths, kind, limit) {
          const sizes = await survey.directories(paths, kind, limit);
          counted.push(kind);
          return sizes;
        },
      });
      world = await createProcessWorld(level, {}, { writers });
      const directory = await world.addVolume('data');
      writeFileSync(join(directory, 'before'), Buffer.alloc(9 * MIB, 1));
      const unit = spec('', [{ name: 'data', path: 'data' }], { id: 'eeeeeeeeeeee' });
      const stop = new AbortController();
      let isCounted = false;
      const output = (): void => void (isCounted = true);
      const signal = stop.signal;
      const command = world.provisioner.exec({
        ...{ unit, output, signal, timeoutMs: 180_000 },
        command: 'while test ! -e data/go; do sleep 0.1; done; head -c 4194304 /dev/zero > data/more; echo; sleep 1000',
      });
      const written = async (): Promise<number> => (await world.writers.list()[0]?.written('bytes', NEVER)) ?? -1;
      await until(() => counted.includes('files'), { what: 'what was there before' });
      expect(await written()).toBeLessThan(4 * MIB);
      writeFileSync(join(directory, 'go'), '');
      await until(() => isCounted, { what: 'what it writes' });
      expect(await written()).toBeGreaterThanOrEqual(4 * MIB);
      world.writers.list()[0]?.end('it takes all');
      await expect(command).rejects.toMatchObject({ code: 'disk_low' });
    });

    itLong('a volume that is not on the machine is not made anew', async () => {
      const failure = await failureOf(world.provisioner.ensure(spec('true', [{ name: 'gone', path: 'data' }])));
      expect(failure.message).toBe('The directory of the volume gone is not on this machine.');
      expect(existsSync(join(world.home, 'volumes', 'shop', 'gone'))).toBe(false);
      expect(await world.provisioner.list()).toEqual([]);
    });

    itLong('a file or link of the code in the way is no place for it', async () => {
      await world.addVolume('data');
      const code = join(world.home, 'slugs', 'slug1', 'code');
      symlinkSync('/etc', join(code, 'lead'));
      for (const path of name === 'bubblewrap' ? ['app.js', 'lead', 'lead/inner'] : ['app.js/inner']) {
        const failure = await failureOf(world.provisioner.ensure(spec('true', [{ name: 'data', path }])));
        expect(failure).toMatchObject({
          code: 'invalid_config',
          hint: expect.stringContaining('another path') as string,
        });
      }
      expect(existsSync('/etc/inner')).toBe(false);
    });

    if (name !== 'bubblewrap') {
      it('the code gets a link, which stays; other places are refused with the reason', async () => {
        const directory = await world.addVolume('data');
        await outputOf(spec('touch data/file', [{ name: 'data', path: 'data' }]));
        expect(readlinkSync(join(world.home, 'slugs', 'slug1', 'code', 'data'))).toBe(directory);
        const failure = await failureOf(world.provisioner.ensure(spec('true', [{ name: 'data', path: '/data' }])));
        expect(failure.message).toContain('that takes bubblewrap');
        expect(world.provisioner.supports.volumes).toBe('below the code');
      });

      itLong('a start whose link is never made, because a unit of the app stops who makes it, fails', async () => {
        const stopped: SandboxProcess[] = [];
        const spawn: Sandbox['spawn'] = async (request) => {
          if (!request.id.startsWith('volume-')) return level.sandbox.spawn(request);
          const started = await level.sandbox.spawn({ ...request, argv: ['sleep', '1000'] });
          started.child.kill('SIGSTOP');
          stopped.push(started);
          return started;
        };
        const own = await createProcessWorld(level, { spawn });
        try {
          await own.addVolume('data');
          const unit = spec('true', [{ name: 'data', path: 'var/data' }]);
          const failure = await failureOf(own.provisioner.ensure(unit));
          expect(failure.message).toContain('took too long');
          expect(stopped.length).toBeGreaterThan(0);
          for (const { child } of stopped) expect(child.exitCode ?? child.signalCode).not.toBeNull();
        } finally {
          await own.dispose();
        }
      });

      it('a directory with files of the code is not replaced', async () => {
        await world.addVolume('data');
        const inside = join(world.home, 'slugs', 'slug1', 'code', 'full');
        mkdirSync(inside);
        writeFileSync(join(inside, 'file'), 'of the code');
        const failure = await failureOf(world.provisioner.ensure(spec('true', [{ name: 'data', path: 'full' }])));
        expect(failure.message).toContain('a directory with files');
        expect(readFileSync(join(inside, 'file'), 'utf8')).toBe('of the code');
      });
      return;
    }

    it('anywhere: at absolute paths, over files of the code, several at once, and no other app sees them', async () => {
      const directory = await world.addVolume('data');
      await world.addVolume('other');
      const code = join(world.home, 'slugs', 'slug1', 'code');
      mkdirSync(join(code, 'public'));
      writeFileSync(join(code, 'public', 'file'), 'of the code');
      const volumes = [
        { name: 'data', path: '/srv/data' },
        { name: 'other', path: 'public' },
      ];
      expect(await outputOf(spec('echo a > /srv/data/x; echo b > public/y; ls /srv/data public', volumes))).toBe(
        '/srv/data:\nx\n\npublic:\ny',
      );
      expect(readFileSync(join(code, 'public', 'file'), 'utf8')).toBe('of the code');
      expect(existsSync(join(code, 'public', 'y'))).toBe(false);
      const rival = spec(`ls ${directory} ${join(world.home, 'volumes')} 2>&1; true`, undefined, { app: 'rival' });
      expect(await outputOf(rival)).toMatch(/No such file|denied/);
      if (isRoot) expect(statSync(directory).uid).not.toBe(0);
      expect(world.provisioner.supports.volumes).toBe('anywhere');
    });

    function addImage(): string {
      const code = world.addSlug('image');
      for (const made of ['bin', 'var/lib/old', 'srv', 'etc']) mkdirSync(join(code, made), { recursive: true });
      copyFileSync(BUSYBOX ?? '', join(code, 'bin', 'busybox'));
      symlinkSync('busybox', join(code, 'bin', 'sh'));
      symlinkSync('/var/lib', join(code, 'lib-link'));
      symlinkSync('../../../../../../../../../etc', join(code, 'var', 'out'));
      const image = {
        digest: 'sha256:1',
        directory: '/srv',
        home: '/',
        uid: 4711,
        gid: 4711,
        ports: [],
        programs: ['/bin/sh'],
      };
      const manifest = { format: 1, platform: '', path: [], env: {}, binds: [], image };
      writeFileSync(join(code, '..', 'slug.json'), JSON.stringify(manifest));
      return code;
    }

    itLong(
      'of an image over which no layer can be put: the sandbox makes its place as the tenant',
      async ({ skip }) => {
        skip(BUSYBOX === undefined, 'there is no /bin/busybox (install the package busybox-static)');
        skip(!level.sandbox.roots, level.sandbox.description);
        const given: string[] = [];
        const own: Sandbox['own'] = async (path, tenant) => {
          given.push(path);
          await level.sandbox.own(path, tenant);
        };
        // Of a name that the options of a mount cannot hold.
        const units = join(level.home, 'units,without,layers');
        await world.dispose();
        world = await createProcessWorld(level, { own }, { units });
        expect(world.provisioner.description).toContain('no layer can be put over it');
        const code = addImage();
        await level.sandbox.own(code, 'shop');
        await world.addVolume('data');
        given.length = 0;
        const volumes = [{ name: 'data', path: '/srv/deep/data' }];
        const text = await run('echo kept > /srv/deep/data/file; /bin/busybox stat -c %u /srv/deep', volumes, 'image');
        expect(text).toBe('4711');
        expect(readFileSync(join(world.home, 'volumes/shop/data/file'), 'utf8')).toBe('kept\n');
        expect(given.filter((path) => path.startsWith(`${code}/`))).toEqual([]);
        rmSync(units, { recursive: true, force: true });
      },
    );

    itLong('of an image: within what is at its top, through its links, at a new place at the top', async ({ skip }) => {
      skip(BUSYBOX === undefined, 'there is no /bin/busybox (install the package busybox-static)');
      skip(!level.sandbox.roots, level.sandbox.description);
      const code = addImage();
      for (const made of ['one', 'two', 'three', 'four']) await world.addVolume(made);
      const volumes = [
        { name: 'one', path: '/var/lib/data' },
        { name: 'two', path: '/lib-link/deep/more' },
        { name: 'three', path: '/data' },
        { name: 'four', path: 'below' },
      ];
      const write = 'for at in /var/lib/data /var/lib/deep/more /data /srv/below; do echo $at > $at/file; done';
      const text = await run(`${write}; /bin/busybox ls /var/lib`, volumes, 'image');
      expect(text.split('\n')).toEqual(['data', 'deep', 'old']);
      const read = (volume: string): string => readFileSync(join(world.home, 'volumes/shop', volume, 'file'), 'utf8');
      expect(['one', 'two', 'three', 'four'].map(read)).toEqual([
        '/var/lib/data\n',
        '/var/lib/deep/more\n',
        '/data\n',
        '/srv/below\n',
      ]);
      // What leads out of an image leads to its own top.
      expect(await run('/bin/busybox ls /etc', [{ name: 'one', path: '/var/out/inside' }], 'image')).toContain(
        'inside',
      );
      expect(existsSync('/etc/inside')).toBe(false);
      expect(existsSync(join(code, 'var/lib/data'))).toBe(false);
    });
  });
}
