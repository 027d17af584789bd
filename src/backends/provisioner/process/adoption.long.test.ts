import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { builtProgram } from '../../../../test/support/built.ts';
import { skipFor } from '../../../../test/support/skips.ts';
import type { Provisioner, UnitExited, UnitSpec } from '../../../domain/units/provisioner.ts';
import { probeSandbox } from '../../../sandbox/probe.ts';
import { allProcesses } from '../../../lib/processes.ts';
import type { SandboxLevel } from '../../../sandbox/sandbox.ts';
import { createProcessWorld, levelsToTest } from './provisioner-world.ts';
import type { OpenedLevel, ProcessWorld } from './provisioner-world.ts';

/** A control of its own: starts one unit, reports its address, waits to be killed. */
const CONTROL = `
import { join } from 'node:path';
const [, , home, slugs, units, level, spec] = process.argv;
const { probeSandbox } = await import(join(import.meta.dirname, 'sandbox/probe.js'));
const { createProcessProvisioner } = await import(join(import.meta.dirname, 'backends/provisioner/process/process-provisioner.js'));
const { SILENT } = await import(join(import.meta.dirname, 'lib/logger.js'));
const sandbox = await probeSandbox({ stateDir: join(home, 'sandbox'), home, level });
const { LocalArtifacts } = await import(join(import.meta.dirname, 'backends/artifact-store/local/local-artifacts.js'));
const artifacts = new LocalArtifacts(slugs);
const provisioner = await createProcessProvisioner({ sandbox, artifacts, units, logger: SILENT });
const unit = JSON.parse(spec);
const handle = await provisioner.ensure(unit);
const check = { listens: true, healthCheck: null, timeoutMs: 180_000 };
const address = await provisioner.ready(unit.id, check, new AbortController().signal);
console.log(JSON.stringify({ handle, address }));
if (unit.env.DURING_RUN === 'yes') {
  void provisioner.exec({ unit, command: 'echo running; sleep 1000', output: (bytes) => console.log(String(bytes).trim()), signal: new AbortController().signal, timeoutMs: 60000 });
}
setInterval(() => undefined, 1000);
`;

const LEVELS: readonly SandboxLevel[] = ['bubblewrap', 'user', 'plain'];
let folder: string;

beforeAll(async () => {
  const program = JSON.stringify(await builtProgram());
  folder = mkdtempSync(join(tmpdir(), 'tancho-adoption-'));
  writeFileSync(join(folder, 'control.mjs'), CONTROL.replaceAll('import.meta.dirname', program));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

for (const [name, level] of await levelsToTest(LEVELS)) {
  if (typeof level === 'string') {
    it(`adoption at level ${name}`, skipFor(level), () => {});
    continue;
  }
  describe(`kill -9 of control at level ${name}`, () => {
    afterAll(() => level.dispose());

    it('what has come back meanwhile is known to each control until one of them has stored it', async () => {
      const world = await createProcessWorld(level);
      const { id } = unitSpec(world, {});
      await world.provisioner.ensure(unitSpec(world, {}));
      await world.provisioner.close();
      const record = join(world.units, id, 'unit.json');
      const exit = { at: '2026-01-01T00:00:00.000Z', code: 7, signal: null, outOfMemory: false };
      const readyAt = { host: '10.0.0.9', port: 8080 };
      const noted = { ...(JSON.parse(readFileSync(record, 'utf8')) as object), comebacks: [exit], readyAt };
      writeFileSync(record, JSON.stringify(noted));
      for (const _ of [1, 2]) {
        const provisioner = await world.restart();
        expect(await provisioner.comebacks(new Set([id]))).toEqual([{ id, exits: [exit], address: readyAt }]);
      }
      const last = await world.restart();
      await last.comebackNoted?.(id);
      expect(await last.comebacks(new Set([id]))).toEqual([]);
      expect(await (await world.restart()).comebacks(new Set([id]))).toEqual([]);
      await world.dispose();
    });

    it('leaves the unit running; the next control adopts it, misses no output and reports its death once', async () => {
      const world = await createProcessWorld(level);
      await world.provisioner.close();
      const unit = unitSpec(world, {});
      const { handle, address } = await controlKilledAfterStart(world, level, unit);

      await say(address, 'alone');
      const provisioner = await world.restart();
      const exits: UnitExited[] = [];
      provisioner.onExit((exited) => exits.push(exited));
      expect(await provisioner.recover(new Map([[unit.id, handle]]))).toEqual(new Set([unit.id]));
      await say(address, 'adopted');
      expect(await linesUntil(provisioner, unit.id, 'adopted')).toEqual(['listening', 'alone', 'adopted']);
      expect(exits).toEqual([]);

      await fetch(`http://${address.host}:${address.port}/crash`).catch(() => undefined);
      await expect.poll(() => exits.length).toBe(1);
      const code = name === 'bubblewrap' ? 7 : null;
      expect(exits).toEqual([{ id: unit.id, code, signal: null, outOfMemory: false }]);
      const later = await world.restart();
      later.onExit((exited) => exits.push(exited));
      await later.recover(new Map([[unit.id, handle]]));
      expect(exits).toHaveLength(1);
      await world.dispose();
    });

    it(
      'the next control hears of a death without looking for it',
      skipFor(name !== 'bubblewrap' && 'only bubblewrap has a process that waits for the unit'),
      async () => {
        const world = await createProcessWorld(level);
        await world.provisioner.close();
        const unit = unitSpec(world, {});
        const { handle, address } = await controlKilledAfterStart(world, level, unit);
        // Whatever it looks at now and then it never gets to.
        vi.useFakeTimers({ toFake: ['setInterval'] });
        const provisioner = await world.restart().finally(() => vi.useRealTimers());
        const exits: UnitExited[] = [];
        provisioner.onExit((exited) => exits.push(exited));
        expect(await provisioner.recover(new Map([[unit.id, handle]]))).toEqual(new Set([unit.id]));
        await fetch(`http://${address.host}:${address.port}/crash`).catch(() => undefined);
        await expect.poll(() => exits).toEqual([{ id: unit.id, code: 7, signal: null, outOfMemory: false }]);
        await world.dispose();
      },
    );

    it('ends a unit whose record is lost', async () => {
      const world = await createProcessWorld(level);
      await world.provisioner.close();
      const unit = unitSpec(world, {});
      await controlKilledAfterStart(world, level, unit);
      writeFileSync(join(world.units, unit.id, 'unit.json'), '{"id":');
      const provisioner = await world.restart();
      expect(await provisioner.list()).toEqual([]);
      expect(processesWith(join(world.units, unit.id))).toEqual([]);
      await world.dispose();
    });

    it('ends commands that ran beside the units', async () => {
      const world = await createProcessWorld(level);
      await world.provisioner.close();
      const unit = unitSpec(world, { DURING_RUN: 'yes' });
      await controlKilledAfterStart(world, level, unit, 'running');
      expect(readdirSync(join(level.home, 'sandbox/bound'))).toHaveLength(1);
      const later = await probeSandbox({ stateDir: join(level.home, 'sandbox'), home: level.home, level: name });
      await later.close();
      expect(readdirSync(join(level.home, 'sandbox/bound'))).toEqual([]);
      await expect.poll(() => processesWith(join(world.units, '.run'))).toEqual([]);
      const provisioner = await world.restart();
      expect((await provisioner.list()).map(({ id }) => id)).toEqual([unit.id]);
      await world.dispose();
    });
  });
}

function processesWith(text: string): number[] {
  const found = allProcesses().filter(({ zombie }) => !zombie);
  return found.map(({ pid }) => pid).filter((pid) => environmentOf(pid).includes(text));
}

function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return '';
  }
}

function unitSpec(world: ProcessWorld, env: Record<string, string>): UnitSpec {
  return {
    id: 'eeeeeeeeeeee',
    app: 'shop',
    name: 'shop/0',
    process: 'web',
    artifact: world.artifact,
    command: world.commands.serve,
    env,
    listens: true,
    limits: { memoryBytes: 0, cpuMillis: 0, processes: 0 },
  };
}

interface Started {
  readonly handle: string;
  readonly address: { readonly host: string; readonly port: number };
}

async function controlKilledAfterStart(
  world: ProcessWorld,
  level: OpenedLevel,
  unit: UnitSpec,
  until = '',
): Promise<Started> {
  const args = [level.home, join(world.home, 'slugs'), world.units, level.sandbox.level, JSON.stringify(unit)];
  const control = spawn(process.execPath, [join(folder, 'control.mjs'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = new Promise((resolve) => control.once('exit', resolve));
  let text = '';
  control.stdout.on('data', (bytes: Buffer) => (text += bytes.toString()));
  await expect.poll(() => text).toMatch(new RegExp(`}\n.*${until}`, 's'));
  control.kill('SIGKILL');
  await gone;
  return JSON.parse(text.split('\n')[0] ?? '') as Started;
}

async function say(address: Started['address'], text: string): Promise<void> {
  const response = await fetch(`http://${address.host}:${address.port}/say?${text}`, {
    headers: { connection: 'close' },
  });
  await response.text();
}

async function linesUntil(provisioner: Provisioner, id: string, last: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const chunk of provisioner.output(id, null, AbortSignal.timeout(60_000))) {
    lines.push(...chunk.lines.map(({ text }) => text));
    if (lines.includes(last)) break;
  }
  return lines;
}
