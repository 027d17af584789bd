/** Every way in which `tancho server` cannot start: it says so in a line or two, ends with an error, and leaves nothing running. */
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtProgram } from '../support/built.ts';
import { allGone, processesOf } from '../support/processes-of.ts';
import { allowPush, createIdentity, createWorkTree, nodeApp, sshUrl } from '../support/git.ts';
import { otherBuild } from '../support/other-build.ts';
import { until } from '../support/until.ts';
import { edgePid, run, startWorld, type World } from '../support/world.ts';

/** Whom the home belongs to that this process may not read. */
const SOMEBODY_ELSE = 65_534;
const isRoot = process.getuid?.() === 0;

let folder: string;
let program: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'tancho-refused-'));
  program = path.join(await builtProgram(), 'main.js');
});

afterAll(() => rm(folder, { recursive: true, force: true }));

interface Case {
  readonly name: string;
  /** On the first line of standard error. */
  readonly says: RegExp;
  /** What to do: on the second, or at the end of the first. */
  readonly hints?: RegExp;
  /** The modes of files are to hold for root too. */
  readonly needsModes?: true;
  /** What is there before the start; answers further environment variables. */
  readonly given?: (home: string) => Promise<Record<string, string> | void>;
}

const CASES: readonly Case[] = [
  ...['API', 'EDGE', 'SSH'].map((door) => ({
    name: `a busy port (${door})`,
    says: /[Cc]annot listen on|already listens on/,
    hints: new RegExp(`set TANCHO_${door}_LISTEN|: TANCHO_${door}_LISTEN=`),
    given: async () => ({ [`TANCHO_${door}_LISTEN`]: await busyPort() }),
  })),
  {
    name: 'a setting that does not exist',
    says: /config\.yaml:1: unknown key "api\.lisen"/,
    hints: /Did you mean "api\.listen"\?/,
    given: (home) => writeInto(home, 'config.yaml', 'api.lisen: 127.0.0.1:0\n'),
  },
  {
    name: 'registration open to everybody where apps are kept apart from nothing',
    says: /Registration is open to everybody/,
    hints: /TANCHO_AUTH_REGISTRATION=closed/,
    given: async () => ({ TANCHO_ISOLATION: 'plain', TANCHO_AUTH_REGISTRATION: 'open' }),
  },
  {
    name: 'a home that is a file',
    says: /is not a directory/,
    hints: /TANCHO_HOME/,
    given: (home) => writeFile(home, ''),
  },
  {
    name: 'a home of somebody else',
    says: /cannot be read \(EACCES\)|cannot write to/,
    hints: /own/,
    needsModes: true,
    given: async (home) => {
      await mkdir(home);
      if (isRoot) await chown(home, SOMEBODY_ELSE, SOMEBODY_ELSE);
      await chmod(home, isRoot ? 0o700 : 0o000);
    },
  },
  {
    name: 'a home whose path is too long for sockets',
    says: /too long/,
    hints: /shorter/,
    given: async (home) => ({ TANCHO_HOME: path.join(home, 'x'.repeat(100)) }),
  },
  {
    name: 'no git',
    says: /git is not installed/,
    hints: /apt install git/,
    given: async () => ({ PATH: path.join(folder, 'nothing-here') }),
  },
  {
    name: 'a restore that was cut off',
    says: /A restore of tancho-20260101T000000000Z into .* was cut off/,
    hints: /tancho server restore <directory>\/tancho-20260101T000000000Z/,
    given: async (home) => {
      await mkdir(path.join(home, '.restored-tancho-20260101T000000000Z'), { recursive: true });
    },
  },
  {
    name: 'a damaged key file',
    says: /The key file .*secret\.key is damaged; restore it from a backup/,
    given: (home) => writeInto(home, 'secret.key', 'garbage\n'),
  },
  {
    name: 'a key file that others may read',
    says: /secret\.key is open to others; run: chmod 600/,
    given: async (home) => {
      await writeInto(home, 'secret.key', 'garbage\n');
      await chmod(path.join(home, 'secret.key'), 0o644);
    },
  },
  {
    name: 'a database of a newer version',
    says: /made by a newer version of Tancho/,
    given: (home) => newerDatabase(home),
  },
  {
    name: 'a database that is none',
    says: /tancho\.db/,
    given: (home) =>
      writeInto(home, 'tancho.db', 'this is no database, but it is long enough to look at\n'.repeat(100)),
  },
  {
    name: 'a PostgreSQL that does not answer',
    says: /127\.0\.0\.1:1\b/,
    given: async () => ({ TANCHO_DATABASE_URL: 'postgres://somebody:very-secret@127.0.0.1:1/tancho' }),
  },
];

describe.concurrent('the start is refused with', () => {
  it.each(CASES)('$name', async ({ name, says, hints, given, needsModes }) => {
    // No home's path begins with another's: processes are found by it.
    const index = String(CASES.findIndex((each) => each.name === name)).padStart(2, '0');
    const home = path.join(folder, `home${index}`);
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      TANCHO_HOME: home,
      TANCHO_API_LISTEN: '127.0.0.1:0',
      TANCHO_EDGE_LISTEN: '127.0.0.1:0',
      TANCHO_SSH_LISTEN: '127.0.0.1:0',
      ...(await given?.(home)),
    };
    const ran = await run(process.execPath, [program, 'server'], {
      cwd: folder,
      env,
      timeoutMs: 60_000,
      obeysModes: needsModes === true,
    });
    expect(ran.code, ran.stderr + ran.stdout).toBe(1);
    expect(ran.stdout).toBe('');
    const lines = ran.stderr.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^Error: ./);
    expect(lines[0]).toMatch(says);
    expect(lines.slice(1).join('\n')).toMatch(lines.length === 1 ? /^$/ : /^ {2}Hint: .+$/);
    if (hints !== undefined) expect(ran.stderr).toMatch(hints);
    expect(ran.stderr).not.toMatch(/fault of the program|very-secret|^\s+at /m);
    await allGone(await processesOf(env.TANCHO_HOME));
  });
});

describe('beside apps that serve', () => {
  let world: World;

  beforeAll(async () => {
    world = await startWorld();
    const ann = await createIdentity();
    const token = await allowPush(world, ann);
    await world.api('POST', '/apps', { token, body: JSON.stringify({ name: 'steady', platform: 'nodejs' }) });
    const work = await createWorkTree(nodeApp('steady'), ann);
    const pushed = await work.push(sshUrl(world, 'steady'));
    expect(pushed.code, pushed.stderr).toBe(0);
    await work.dispose();
    await ann.dispose();
  });
  afterAll(() => world.dispose());

  it('a version that is older than the database is refused, and touches neither them nor the edge nor whoever looks after them', async () => {
    const edge = await edgePid(world);
    const keeper = async (): Promise<number> =>
      Number(await readFile(path.join(world.home, 'run', 'keeper.pid'), 'utf8').catch(() => '0'));
    await world.end('SIGTERM');
    setNewest(world.home, "insert into migrations values ('9999_from_the_future', '2050')");
    world.program = await otherBuild(folder, 'older');
    const asked = askAgainAndAgain(world);
    await expect(world.startAgain()).rejects.toThrow(/made by a newer version of Tancho/);
    await until(async () => (await keeper()) > 0, { what: 'the keeper' });
    const { answers, failures } = await asked.stop();
    expect(failures).toEqual([]);
    expect(answers).toBeGreaterThan(0);
    expect(await edgePid(world)).toBe(edge);
    setNewest(world.home, "delete from migrations where name = '9999_from_the_future'");
    await world.startAgain();
    expect((await world.fetchApp('steady')).status).toBe(200);
  });
});

/** Requests one after the other, until it is stopped. */
function askAgainAndAgain(world: World): { stop(): Promise<{ answers: number; failures: string[] }> } {
  let isOver = false;
  let answers = 0;
  const failures: string[] = [];
  const asking = (async () => {
    while (!isOver) {
      const status = await world.fetchApp('steady').then(
        (answer) => answer.status,
        (error: Error) => error.message,
      );
      if (status === 200) answers += 1;
      else failures.push(String(status));
    }
  })();
  return {
    async stop() {
      isOver = true;
      await asking;
      return { answers, failures };
    },
  };
}

function setNewest(home: string, statement: string): void {
  const database = new DatabaseSync(path.join(home, 'tancho.db'));
  database.exec(statement);
  database.close();
}

async function writeInto(home: string, name: string, text: string): Promise<void> {
  await mkdir(home, { recursive: true, mode: 0o700 });
  await writeFile(path.join(home, name), text, { mode: 0o600 });
}

/** A port that is listened on until this process ends. */
async function busyPort(): Promise<string> {
  const server = createServer().unref();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function newerDatabase(home: string): Promise<void> {
  await mkdir(home, { mode: 0o700 });
  const database = new DatabaseSync(path.join(home, 'tancho.db'));
  database.exec('create table migrations (name text primary key, timestamp text)');
  database.exec(`pragma application_id = ${0x54414e43}`);
  database.exec("insert into migrations values ('9999_from_the_future', '2050')");
  database.close();
}
