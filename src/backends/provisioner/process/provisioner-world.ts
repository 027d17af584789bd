/** Test support: a process provisioner over a home of its own, with one slug whose app does what the suite asks. */
import { DiskWriters } from '../../../domain/disk/disk-writers.ts';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Provisioner } from '../../../domain/units/provisioner.ts';
import { SILENT } from '../../../lib/logger.ts';
import { probeSandbox } from '../../../sandbox/probe.ts';
import type { Sandbox, SandboxLevel } from '../../../sandbox/sandbox.ts';
import type { ConformanceWorld } from '../conformance.ts';
import { LocalArtifacts } from '../../artifact-store/local/local-artifacts.ts';
import type { ProcessProvisionerOptions } from './provisioner-options.ts';
import { createProcessProvisioner } from './process-provisioner.ts';
import { loadRecord, unitPaths } from './unit-record.ts';
import { SLOW } from '../../../../test/support/slow.ts';

const APP = `
const http = require('node:http');
const port = process.argv[2] === 'elsewhere' ? 0 : Number(process.env.PORT);
http.createServer((request, response) => {
  if (request.url === '/crash') process.exit(7);
  if (request.url === '/hang') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  if (request.url.startsWith('/say?')) console.log(request.url.slice(5));
  response.statusCode = request.url === '/broken' ? 500 : 200;
  response.end('hello');
}).listen(port, '127.0.0.1', () => console.log('listening'));
process.on('SIGTERM', () => process.exit(0));
`;

const COMMANDS = {
  serve: 'node app.js',
  serveElsewhere: 'node app.js elsewhere',
  exit3: 'echo last words; exit 3',
  killSelf: 'kill -9 $$',
  printAndStay: 'printf "one\\ntwo\\nthree\\n"; exec sleep 1000',
  printEnvironment: 'echo "$TANCHO_APP $TANCHO_UNIT $TANCHO_PROCESS $GREETING"',
  stubborn: 'trap "" TERM; echo ready; while :; do sleep 0.1; done',
  grow: `node -e 'const kept = []; setInterval(() => kept.push(Buffer.alloc(8e6, 1)), 5)'`,
  printMuch: `node -e 'for (let n = 0; n < 4e4; n++) console.log("line " + n + " x".repeat(50)); console.log("last"); setInterval(() => {}, 1e6)'`,
  runAndFail: 'echo out; echo err >&2; exit 4',
  runLong: 'sleep 1000 & sleep 1000',
};

export interface ProcessWorld extends ConformanceWorld {
  readonly home: string;
  readonly sandbox: Sandbox;
  readonly units: string;
  readonly writers: DiskWriters;
  /** Makes the directory of a volume of the app `shop`. */
  addVolume(name: string): Promise<string>;
  /** Adds a slug with the same app. */
  addSlug(artifact: string): string;
}

/** One home with one probed sandbox; worlds in it differ by their own directories. */
export interface OpenedLevel {
  readonly home: string;
  readonly sandbox: Sandbox;
  dispose(): Promise<void>;
}

/** What is tested at each isolation level: with TANCHO_TEST_SLOW=1 at all of them, else at the strongest of this machine. */
export async function levelsToTest(
  levels: readonly SandboxLevel[],
  network: 'auto' | 'shared' = 'auto',
): Promise<(readonly [SandboxLevel, OpenedLevel | string])[]> {
  const opened: (readonly [SandboxLevel, OpenedLevel | string])[] = [];
  for (const name of levels) {
    const level = await openLevel(name, network);
    opened.push([name, level]);
    if (!SLOW && typeof level !== 'string') break;
  }
  return opened;
}

/** The level, or why it cannot be tested here. */
export async function openLevel(
  level: SandboxLevel,
  network: 'auto' | 'shared' = 'auto',
): Promise<OpenedLevel | string> {
  const home = mkdtempSync(join(tmpdir(), 'tancho-units-'));
  chmodSync(home, 0o711);
  const remove = (): void => rmSync(home, { recursive: true, force: true });
  try {
    const sandbox = await probeSandbox({
      stateDir: join(home, 'sandbox'),
      home,
      level,
      network: { mode: network, allowed: [] },
    });
    const dispose = (): Promise<void> => sandbox.close().finally(remove);
    return { home, sandbox, dispose };
  } catch (error) {
    remove();
    return error instanceof Error ? error.message : String(error);
  }
}

export async function createProcessWorld(
  level: OpenedLevel,
  changes: Partial<Sandbox> = {},
  more: Partial<ProcessProvisionerOptions> = {},
): Promise<ProcessWorld> {
  const home = mkdtempSync(join(level.home, 'world-'));
  chmodSync(home, 0o711);
  const slugs = join(home, 'slugs');
  const units = join(home, 'units');
  const volumes = join(home, 'volumes');
  mkdirSync(slugs, { mode: 0o711 });
  const addSlug = (artifact: string): string => {
    const code = join(slugs, artifact, 'code');
    mkdirSync(code, { recursive: true });
    writeFileSync(join(code, 'app.js'), APP);
    const manifest = { format: 1, platform: 'node', path: [dirname(process.execPath)], env: {}, binds: [] };
    writeFileSync(join(slugs, artifact, 'slug.json'), JSON.stringify(manifest));
    return code;
  };
  addSlug('slug1');
  const sandbox = withChanges(level.sandbox, changes);
  const readiness = { wrongPlaceGraceMs: 500 };
  const artifacts = new LocalArtifacts(slugs);
  const { writers = new DiskWriters() } = more;
  const make = (): Promise<Provisioner> =>
    createProcessProvisioner({ sandbox, artifacts, units, volumes, writers, logger: SILENT, readiness, ...more });
  let current = await make();
  return {
    home,
    sandbox,
    units,
    writers,
    provisioner: current,
    commands: COMMANDS,
    artifact: 'slug1',
    addSlug,
    async addVolume(name) {
      const directory = join(volumes, 'shop', name);
      mkdirSync(directory, { recursive: true, mode: 0o711 });
      await sandbox.own(directory, 'shop');
      return directory;
    },
    async restart() {
      await current.close();
      current = await make();
      return current;
    },
    async killBehind(id) {
      const record = await loadRecord(unitPaths(units, id));
      if (record !== null) await sandbox.kill(record, 'SIGKILL');
    },
    async dispose() {
      for (const { id } of await current.list()) await current.remove(id);
      await current.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** The same sandbox, some of its abilities replaced; its methods go on working on itself. */
function withChanges(sandbox: Sandbox, changes: Partial<Sandbox>): Sandbox {
  return new Proxy(sandbox, {
    get(target, name) {
      if (Object.hasOwn(changes, name)) return Reflect.get(changes, name) as unknown;
      const value = Reflect.get(target, name, target) as unknown;
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
