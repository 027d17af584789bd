import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { skipFor } from '../../../../test/support/skips.ts';
import { QUICK_NETWORK } from '../../../../test/support/slow.ts';
import type { SandboxLevel } from '../../../sandbox/sandbox.ts';
import { createProcessWorld, levelsToTest, type ProcessWorld } from './provisioner-world.ts';
import { openTerminal } from './terminal.ts';
import { itLong } from '../../../../test/support/long-cases.ts';

const LEVELS: readonly SandboxLevel[] = ['bubblewrap', 'user', 'plain'];
const probe = await openTerminal({ columns: 80, rows: 24 });
probe?.close();
const hasTerminals = probe !== null;

for (const [name, level] of await levelsToTest(LEVELS, QUICK_NETWORK)) {
  const lacking = hasTerminals ? typeof level === 'string' && level : 'this machine has no pseudo-terminals';
  describe(`a shell at level ${name}`, skipFor(lacking), () => {
    let world: ProcessWorld;
    let stop: AbortController;
    let ended: Promise<unknown>[];
    beforeEach(async () => {
      [stop, ended] = [new AbortController(), []];
      if (typeof level !== 'string') world = await createProcessWorld(level);
    });
    afterEach(async () => {
      stop.abort();
      await Promise.all(ended);
      await world.dispose();
    });
    afterAll(() => {
      if (typeof level !== 'string') level.dispose();
    });

    async function open() {
      const parts: Uint8Array[] = [];
      const limits = { memoryBytes: 0, cpuMillis: 0, processes: 0 };
      const env = { GREETING: 'hello' };
      const unit = { id: 'aaaaaaaaaaaa', app: 'shop', name: 'shop/0', process: 'web', artifact: 'slug1' };
      const shell = await world.provisioner.shell({
        unit: { ...unit, command: '', env, listens: false, limits },
        term: 'xterm-256color',
        size: { columns: 80, rows: 24 },
        output: (bytes) => void parts.push(bytes),
        signal: stop.signal,
      });
      ended.push(shell.ended);
      return {
        shell,
        text: () => Buffer.concat(parts).toString(),
        type: (text: string) => shell.write(Buffer.from(text)),
        shows: (text: string) => expect.poll(() => Buffer.concat(parts).toString()).toContain(text),
      };
    }

    it('has a real terminal, whose size follows, in the surroundings of the app', async () => {
      const { shell, type, shows } = await open();
      expect(shell.isTerminal).toBe(true);
      await type('test -t 0 && echo "on a t"erminal, $TERM, $GREETING, $(ls)\r');
      await shows('on a terminal, xterm-256color, hello, app.js');
      await type('stty size\r');
      await shows('24 80');
      shell.resize({ columns: 101, rows: 33 });
      await type('stty size\r');
      await shows('33 101');
      shell.endInput();
      expect(await shell.ended).toEqual({ code: 0, signal: null });
    });

    it('ends when nothing more is typed, also when that is said before it reads', async () => {
      const { shell, type, shows } = await open();
      await type('echo "beg"un; sleep 0.3\r');
      await shows('begun');
      shell.endInput();
      expect(await shell.ended).toEqual({ code: 0, signal: null });
    });

    it('hands control keys on to what runs in it', async () => {
      const { shell, type, shows } = await open();
      // Printed by what has the terminal by then.
      await type(`sh -c 'echo "beg"un; exec sleep 1000'\r`);
      await shows('begun');
      await type('\u0003');
      await type('echo "aft"er $?; exit 5\r');
      await shows('after 130');
      expect(await shell.ended).toEqual({ code: 5, signal: null });
    });

    itLong('shows what was printed just before the end', async () => {
      for (let round = 0; round < 5; round++) {
        const { shell, text, type, shows } = await open();
        await type("stty -echo; PS1=; echo 'rea''dy'\r");
        await shows('ready');
        await type('i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo "line $i."; done; exit 7\r');
        expect(await shell.ended).toEqual({ code: 7, signal: null });
        const lines = Array.from({ length: 300 }, (_, at) => `line ${at + 1}.`);
        expect(text().match(/line \d+\./g)).toEqual(lines);
      }
    });

    itLong('keeps its terminal from every other process', async () => {
      await open();
      const limits = { memoryBytes: 0, cpuMillis: 0, processes: 0 };
      const unit = { id: 'bbbbbbbbbbbb', app: 'other', name: 'other/0', process: 'web', artifact: 'slug1' };
      const parts: Uint8Array[] = [];
      await world.provisioner.exec({
        unit: { ...unit, command: '', env: {}, listens: false, limits },
        command: 'ls -l /proc/self/fd',
        output: (bytes) => void parts.push(bytes),
        signal: stop.signal,
        timeoutMs: 180_000,
      });
      expect(Buffer.concat(parts).toString()).toContain(' 0 -> ');
      expect(Buffer.concat(parts).toString()).not.toMatch(/ptmx|\/pts\//);
    });

    itLong('is ended, as a command is, where it takes room that others need', async () => {
      const { shell, type, shows } = await open();
      await type('touch ~/mine; echo "writ"ten\r');
      await shows('written');
      const limits = { memoryBytes: 0, cpuMillis: 0, processes: 0 };
      const unit = { id: 'bbbbbbbbbbbb', app: 'other', name: 'other/0', process: 'web', artifact: 'slug1' };
      const command = world.provisioner.exec({
        ...{
          unit: { ...unit, command: '', env: {}, listens: false, limits },
          command: 'touch ~/mine; echo x; sleep 300',
        },
        output: () => world.writers.list().forEach((one) => one.end('it takes all')),
        ...{ signal: stop.signal, timeoutMs: 180_000 },
      });
      await expect(command).rejects.toMatchObject({ code: 'disk_low', message: 'it takes all' });
      expect(await shell.ended).toMatchObject({ code: null });
      expect(readdirSync(join(world.units, '.run'))).toEqual([]);
      expect(world.writers.list()).toEqual([]);
    });

    it('leaves no process and no file behind, also of what hides from it', async () => {
      const { shell, type, shows } = await open();
      await type('(setsid sleep 1234.5 &); touch ~/mine; echo "hid"den\r');
      await shows('hidden');
      stop.abort();
      expect(await shell.ended).toMatchObject({ code: null });
      expect(readdirSync(join(world.units, '.run'))).toEqual([]);
      const running = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && commandOf(pid).includes('1234.5'));
      expect(running).toEqual([]);
    });
  });
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}
