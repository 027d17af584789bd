import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { UnitExited, UnitSpec } from '../../../domain/units/provisioner.ts';
import { Failure } from '../../../domain/failure.ts';
import type { SandboxLevel } from '../../../sandbox/sandbox.ts';
import { CodeLayers, mountsBelow as mountsOf } from './code-layers.ts';
import { createProcessWorld, levelsToTest } from './provisioner-world.ts';
import type { ProcessWorld } from './provisioner-world.ts';
import { itLong } from '../../../../test/support/long-cases.ts';

const LEVELS: readonly SandboxLevel[] = ['bubblewrap', 'user', 'plain'];
const NEVER = new AbortController().signal;
const UNLIMITED = { memoryBytes: 0, cpuMillis: 0, processes: 0 };
const isRoot = process.getuid?.() === 0;

for (const [name, level] of await levelsToTest(LEVELS)) {
  if (typeof level === 'string') {
    it(`units at level ${name}`, ({ skip }) => skip(level));
    continue;
  }
  describe(`units at level ${name}`, () => {
    let world: ProcessWorld;
    let exits: UnitExited[];
    beforeEach(async () => {
      world = await createProcessWorld(level);
      exits = [];
      world.provisioner.onExit((exited) => exits.push(exited));
    });
    afterEach(async () => world.dispose());
    afterAll(() => level.dispose());

    function spec(command: string, changes: Partial<UnitSpec> = {}): UnitSpec {
      const fixed = {
        id: 'ffffffffffff',
        app: 'shop',
        name: 'shop/0',
        process: 'web',
        artifact: 'slug1',
        limits: UNLIMITED,
      };
      return { ...fixed, command, env: {}, listens: false, ...changes };
    }

    async function outputOf(unit: UnitSpec): Promise<string> {
      await world.provisioner.ensure(unit);
      const lines: string[] = [];
      for await (const chunk of world.provisioner.output(unit.id, null, AbortSignal.timeout(60_000))) {
        lines.push(...chunk.lines.map(({ text }) => text));
      }
      return lines.join('\n');
    }

    it('may write its code, home and temporary directories, and /dev/stdout', async () => {
      const command =
        'touch made "$HOME/made" "$TMPDIR/made" && echo first > /dev/stdout && echo second >> /dev/stderr && echo third';
      const text = await outputOf(spec(command));
      expect(text).toContain('third');
      expect(text).not.toMatch(/denied|cannot/i);
      // Under bubblewrap it is gone with the unit, and the code is as it was built.
      expect(existsSync(join(world.home, 'slugs/slug1/code/made'))).toBe(name !== 'bubblewrap');
      // One that comes back after a while gives its room to others at once.
      await world.provisioner.stop('ffffffffffff', 0, true);
      expect(['home', 'tmp', 'layer'].filter((path) => existsSync(join(world.units, 'ffffffffffff', path)))).toEqual(
        [],
      );
    });

    it('gives commands a port as it gives units, and by which name they run', async () => {
      const printed = async (changes: Partial<UnitSpec>): Promise<string> => {
        let text = '';
        const output = (bytes: Uint8Array): void => void (text += Buffer.from(bytes).toString());
        const unit = spec('true', { id: '999999999999', ...changes });
        const command = 'test "$USER" = "$LOGNAME" && echo "$USER $PORT"';
        await world.provisioner.exec({ unit, command, output, signal: NEVER, timeoutMs: 180_000 });
        return text.trim();
      };
      expect(await printed({})).toMatch(/^[a-z]\w* \d+$/);
      if (!level.sandbox.networks) return;
      expect(await printed({})).toBe('app 8080');
      expect(await printed({ env: { PORT: '3000' } })).toBe('app 3000');
    });

    if (name !== 'plain') {
      it('reads neither the secret key nor what belongs to another app', async ({ skip }) => {
        skip(!isRoot, 'only root may become other users');
        const other = world.addSlug('slug2');
        writeFileSync(join(other, 'canary'), 'canary-code');
        writeFileSync(join(world.home, 'secret.key'), 'canary-key', { mode: 0o600 });
        await world.provisioner.ensure(
          spec('echo canary-output; exec sleep 1000', { id: '222222222222', app: 'rival', artifact: 'slug2' }),
        );
        await expect.poll(() => world.provisioner.lastLines('222222222222', 1)).toEqual(['canary-output']);
        const rival = join(world.units, '222222222222');
        const text = await outputOf(
          spec(
            `cat ${other}/canary ${world.home}/secret.key ${rival}/output ${rival}/unit.json; grep -a canary /proc/[0-9]*/environ; true`,
            {
              env: { X: '1' },
            },
          ),
        );
        expect(text).not.toMatch(/canary-/);
        expect(text).toMatch(/No such file|denied/);
      });
    }

    if (name === 'bubblewrap' && isRoot) {
      it('runs what was built, whatever it has changed before', async () => {
        const unit = spec(
          'cat app.js | wc -l; ls; echo changed > app.js; rm -rf node_modules; mkdir data; touch data/rows.db',
        );
        const first = await outputOf(unit);
        await expect.poll(() => exits).toHaveLength(1);
        expect(await world.provisioner.list()).toMatchObject([{ state: 'ended' }]);
        expect(await world.provisioner.writtenData(unit.id)).toEqual(['data/rows.db']);
        const again = await outputOf(unit);
        expect(again).toBe(`${first}\n${first}`);
        const run = await world.provisioner.exec({
          unit: spec('true'),
          command: 'test ! -e data && echo spoilt > app.js',
          signal: NEVER,
          timeoutMs: 180_000,
          output: () => undefined,
        });
        expect(run.code).toBe(0);
        expect(readFileSync(join(world.home, 'slugs/slug1/code/app.js'), 'utf8')).toContain('createServer');
        await world.provisioner.remove(unit.id);
        expect(await mountsOf(world.units)).toEqual([]);
      });

      itLong('has layers also where the home is reached by a link', async () => {
        const link = join(level.home, 'link');
        symlinkSync(world.home, link);
        try {
          const layers = await CodeLayers.open(world.sandbox, join(link, 'units'));
          expect(layers.protection).toBe('layer');
          expect(await mountsOf(world.units)).toEqual([]);
        } finally {
          rmSync(link);
        }
      });

      itLong('has layers in a home whose path has a space in it', async () => {
        const directory = join(world.home, 'my units');
        mkdirSync(directory);
        const layers = await CodeLayers.open(world.sandbox, directory);
        expect(layers.protection).toBe('layer');
        expect(await mountsOf(directory)).toEqual([]);
      });

      itLong('has no layer left that a killed control was about to give to a process', async () => {
        const left = join(world.units, 'eeeeeeeeeeee');
        const layers = await CodeLayers.open(world.sandbox, world.units);
        expect(layers.protection).toBe('layer');
        await layers.lay(join(world.home, 'slugs/slug1/code'), left, { tenant: 'shop', isRoot: false });
        expect(await mountsOf(world.units)).toHaveLength(1);
        await world.restart();
        expect(await mountsOf(world.units)).toEqual([]);
        expect(existsSync(left)).toBe(false);
      });
    }

    it('ends with its main process, whatever that left behind', async () => {
      const unit = spec('setsid -f sleep 1000; sleep 1000 & exit 5');
      await world.provisioner.ensure(unit);
      await expect.poll(() => exits).toEqual([{ id: unit.id, code: 5, signal: null, outOfMemory: false }]);
      await expect.poll(() => world.sandbox.pids({ rootPid: 0, rootStart: '', id: unit.id })).toEqual([]);
    });

    itLong('gives the children of a shell the time to end by themselves', async () => {
      const child = `trap "sleep 0.2; echo saved; exit 0" TERM; echo up; while :; do sleep 0.05; done`;
      const unit = spec(`true; sh -c '${child}'; true`);
      await world.provisioner.ensure(unit);
      await expect.poll(() => world.provisioner.lastLines(unit.id, 1)).toEqual(['up']);
      await world.provisioner.stop(unit.id, 5_000);
      expect(await world.provisioner.lastLines(unit.id, 1)).toEqual(['saved']);
    });

    it('frees the disk space of output that was read, and leaves nothing of a removed unit', async () => {
      const unit = spec(
        'i=0; while [ $i -lt 40 ]; do head -c 99999 /dev/zero | tr "\\\\0" x; echo; i=$((i+1)); done; echo end; exec sleep 1000',
      );
      await world.provisioner.ensure(unit);
      let cursor = '';
      for await (const chunk of world.provisioner.output(unit.id, null, AbortSignal.timeout(60_000))) {
        cursor = chunk.cursor;
        if (chunk.lines.at(-1)?.text === 'end') break;
      }
      expect(cursor).toBe(String(40 * 100_000 + 4));
      const file = join(world.units, unit.id, 'output');
      await world.provisioner.consumed(unit.id, cursor);
      expect(statSync(file).blocks * 512).toBeLessThan(1024 * 1024);
      expect((await world.provisioner.lastLines(unit.id, 1))[0]).toBe('end');
      await world.provisioner.stop(unit.id, 1_000);
      const rest: number[] = [];
      for await (const chunk of world.provisioner.output(unit.id, null, NEVER)) rest.push(chunk.lines.length);
      expect(rest.length).toBeGreaterThan(0);
      await world.provisioner.remove(unit.id);
      expect(readdirSync(world.units)).toEqual([]);
      expect(readdirSync(join(level.home, 'sandbox/status'))).toEqual([]);
    });

    itLong('serves where it listens on the address of its own network only', async ({ skip }) => {
      if (!world.sandbox.networks) skip('networks are shared here');
      const own = 'require("os").networkInterfaces().eth0.find(({ family }) => family === "IPv4").address';
      const unit = spec(`node -e 'require("net").createServer().listen(process.env.PORT, ${own})'`, { listens: true });
      await world.provisioner.ensure(unit);
      const check = { listens: true, healthCheck: null, timeoutMs: 180_000, watchMs: 0 };
      expect(await world.provisioner.ready(unit.id, check, NEVER)).toMatchObject({ port: 8080 });
    });

    it('is distinguished when it listens where the platform cannot reach it', async ({ skip }) => {
      if (world.sandbox.networks) skip('its network has no address that the platform does not reach');
      const cards = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
      const card = cards.find(({ family, internal }) => family === 'IPv4' && !internal);
      if (card === undefined) skip('this machine has loopback only');
      const own = JSON.stringify(card?.address);
      const unit = spec(`node -e 'require("net").createServer().listen(process.env.PORT, ${own})'`, { listens: true });
      await world.provisioner.ensure(unit);
      const check = { listens: true, healthCheck: null, timeoutMs: 180_000, watchMs: 0 };
      const failure = await world.provisioner.ready(unit.id, check, NEVER).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(Failure);
      expect((failure as Failure).code).toBe('wrong_interface');
    });

    itLong('is distinguished when it takes connections over IPv6 only', async ({ skip }) => {
      if (!world.sandbox.networks) skip('networks are shared here');
      const listen = 'require("net").createServer().listen({ port: process.env.PORT, host: "::", ipv6Only: true })';
      const unit = spec(`node -e '${listen}'`, { listens: true });
      await world.provisioner.ensure(unit);
      const check = { listens: true, healthCheck: null, timeoutMs: 180_000, watchMs: 0 };
      const failure = await world.provisioner.ready(unit.id, check, NEVER).catch((error: unknown) => error);
      expect(failure).toMatchObject({
        code: 'wrong_interface',
        message: expect.stringContaining('only for IPv6') as string,
      });
    });

    itLong('serves on whatever port it has chosen, where its network is its own', async ({ skip }) => {
      if (!world.sandbox.networks) skip('networks are shared here');
      const listen = (port: number): string => `require("net").createServer().listen(${port});`;
      const check = { listens: true, healthCheck: null, timeoutMs: 180_000, watchMs: 0 };
      const one = spec(`node -e '${listen(81)}'`, { listens: true });
      await world.provisioner.ensure(one);
      expect(await world.provisioner.ready(one.id, check, NEVER)).toMatchObject({ port: 81 });
      const two = spec(`node -e '${listen(81)}${listen(82)}'`, { id: '333333333333', listens: true });
      await world.provisioner.ensure(two);
      const failure = await world.provisioner.ready(two.id, check, NEVER).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: 'wrong_port' });
      const asked = spec(two.command, { id: '444444444444', listens: true, env: { PORT: '82' } });
      await world.provisioner.ensure(asked);
      expect(await world.provisioner.ready(asked.id, check, NEVER)).toMatchObject({ port: 82 });
    });

    itLong('is watched where the kernel sets no memory limit', async () => {
      const watched = await createProcessWorld(level, {
        limits: { memory: false, cpu: false, processes: false },
        spawn: (request) => level.sandbox.spawn({ ...request, limits: UNLIMITED }),
      });
      const reported: UnitExited[] = [];
      watched.provisioner.onExit((exited) => reported.push(exited));
      expect(watched.provisioner.supports).toMatchObject({ memoryLimit: true, cpuLimit: false });
      const limits = { ...UNLIMITED, memoryBytes: 100 * 1024 * 1024 };
      await watched.provisioner.ensure(spec(watched.commands.grow, { limits }));
      await expect.poll(() => reported.map(({ outOfMemory }) => outOfMemory)).toEqual([true]);
      await watched.dispose();
    });

    it('cannot be started from code that is not there', async () => {
      mkdirSync(join(world.home, 'slugs/broken'));
      for (const artifact of ['nowhere', 'broken', '../slug1']) {
        const failure = await world.provisioner.ensure(spec('true', { artifact })).catch((error: unknown) => error);
        expect(failure).toBeInstanceOf(Failure);
        expect((failure as Failure).code).toBe('internal');
      }
      expect(await world.provisioner.list()).toEqual([]);
    });
  });
}
