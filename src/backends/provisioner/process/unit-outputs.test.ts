import {
  appendFileSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SILENT } from '../../../lib/logger.ts';
import { PlainSandbox } from '../../../../test/support/plain-sandbox.ts';
import { LiveUnit } from './live-unit.ts';
import { punchHole } from './output-file.ts';
import { UnitOutputs } from './unit-outputs.ts';
import { unitPaths, type UnitRecord } from './unit-record.ts';

const MIB = 1024 * 1024;
const PRINTED = `${'x'.repeat(127)}\n`.repeat((8 * MIB) / 128);

let units: string;
let unit: LiveUnit;
beforeEach(() => {
  units = mkdtempSync(join(tmpdir(), 'outputs-'));
  const paths = unitPaths(units, 'u1');
  mkdirSync(paths.directory);
  const record: UnitRecord = {
    format: 1,
    ...{ id: 'u1', app: 'shop', process: 'web', artifact: 'a', port: null, memoryBytes: 0, isSimple: true },
    ...{ bootId: '', rootPid: 0, rootStart: '', mainPid: 0, mainStart: '', exit: null, isReported: true },
    ...{ freed: 0, removedAt: null },
    state: 'dead',
  };
  const none = { sandbox: new PlainSandbox(), logger: SILENT, onDeath: () => undefined };
  unit = new LiveUnit(record, { paths, ...none });
});
afterEach(() => rmSync(units, { recursive: true, force: true }));

/** On the disk, of the output. */
function takenBytes(): number {
  return statSync(unit.paths.output).blocks * 512;
}

async function freeAll(outputs: UnitOutputs): Promise<void> {
  await outputs.free(unit, statSync(unit.paths.output).size);
}

async function hasHoles(): Promise<boolean> {
  return punchHole(unit.paths.output, { offset: 0, length: 4_096 }).then(
    () => true,
    () => false,
  );
}

it('goes on giving disk space back after that has failed for a while, and where it could not be noted', async ({
  skip,
}) => {
  appendFileSync(unit.paths.output, PRINTED);
  if (!(await hasHoles())) skip('this file system has no holes');
  let nowMs = 1_000_000;
  const outputs = new UnitOutputs(SILENT, () => nowMs);
  const path = process.env['PATH'];
  try {
    process.env['PATH'] = units;
    await freeAll(outputs);
  } finally {
    process.env['PATH'] = path;
  }
  expect(outputs.description).toContain('keeps its disk space');
  expect(takenBytes()).toBeGreaterThan(7 * MIB);
  nowMs += 60_000;
  mkdirSync(`${unit.paths.record}.new`);
  await freeAll(outputs);
  expect(outputs.description).toBe('');
  expect(takenBytes()).toBeLessThan(2 * MIB);
  appendFileSync(unit.paths.output, PRINTED);
  await freeAll(outputs);
  expect(takenBytes()).toBeLessThan(2 * MIB);
});

it('gives back once more what the unit has written where everything was given back', async ({ skip }) => {
  appendFileSync(unit.paths.output, PRINTED);
  if (!(await hasHoles())) skip('this file system has no holes');
  const outputs = new UnitOutputs(SILENT);
  truncateSync(unit.paths.output, 1024 ** 4);
  await freeAll(outputs);
  expect(takenBytes()).toBeLessThan(2 * MIB);
  for (const offset of [0, 500_000 * MIB]) {
    const file = openSync(unit.paths.output, 'r+');
    writeSync(file, PRINTED, offset);
    closeSync(file);
    expect(takenBytes()).toBeGreaterThan(7 * MIB);
    await freeAll(outputs);
    expect(takenBytes()).toBeLessThan(2 * MIB);
  }
});

it('holds room for what units print next, but of what is free a part only', async () => {
  let free = 2 * MIB;
  const outputs = new UnitOutputs(SILENT, undefined, async () => free);
  appendFileSync(unit.paths.output, '');
  unit.record = { ...unit.record, state: 'running' };
  await outputs.hold([unit]);
  expect(takenBytes()).toBe(MIB / 2);
  free = 1024 * MIB;
  await outputs.hold([unit]);
  expect(takenBytes()).toBe(MIB);
});
