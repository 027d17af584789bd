/** Twenty apps that are asked all the time, deploys of them meanwhile, and one app beside them that tries to take everything there is. */
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { archive, deployArchive } from './archives.ts';
import { nodeApp } from './git.ts';
import { BEGIN, GREEDS, greedyApp, greedyBuild } from './greedy-app.ts';
import { startLoadApart, type LoadApart } from './load-apart.ts';
import { type SmallDisk, smallDisk } from './small-disk.ts';
import { startWorld, type World } from './world.ts';

export const CALM = Array.from({ length: 20 }, (_, index) => `app${index}`);
const LOAD = { apps: CALM, perSecond: 200, connections: 8 };
const GIB = 1024 ** 3;
const FILES = 400_000;
/** Between two questions to an app that may have been started anew. */
const ASK_MS = 200;
const LIMITS = {
  TANCHO_UNITS_MEMORY: '256M',
  TANCHO_UNITS_DISK: '400M',
  TANCHO_UNITS_FILES: '20000',
  TANCHO_DISK_RESERVE: '512M',
};

/** With TANCHO_TEST_PRINTING=no they print nothing for a request: what is printed is written to the disk that another one may fill. */
function calmApp(text: string): Record<string, string> {
  const app = nodeApp(text);
  if (process.env['TANCHO_TEST_PRINTING'] !== 'no') return app;
  const code = `require('node:http').createServer((req, res) => res.end(req.url === '/env' ? (process.env.GREETING ?? '') : ${JSON.stringify(text)})).listen(process.env.PORT);`;
  return { ...app, 'server.js': code };
}

async function create(world: World, token: string, app: string): Promise<void> {
  const made = await world.api('POST', '/apps', { token, body: JSON.stringify({ name: app, platform: 'nodejs' }) });
  if (made.status !== 200) throw new Error(`making ${app}: ${made.text}`);
}

async function deploy(world: World, token: string, app: string, code: Buffer): Promise<void> {
  const reported = await deployArchive(world, token, app, code);
  if (!/\nOK\n$/.test(reported)) throw new Error(`deploying ${app}: ${reported}`);
}

/** Of whom the builds take turns with those of the others. */
async function anotherUser(world: World): Promise<string> {
  const [email, password] = ['bob@example.com', 'of bob 123'];
  const made = await world.api('POST', '/users', { body: JSON.stringify({ email, password }) });
  if (made.status >= 300) throw new Error(`making a user: ${made.text}`);
  const token = await world.login(email, password);
  const team = await world.api('POST', '/teams', { token, body: JSON.stringify({ name: 'crew' }) });
  if (team.status >= 300) throw new Error(`making a team: ${team.text}`);
  return token;
}

/** The twenty, on a disk of their own. */
export class Neighbours {
  readonly world: World;
  readonly token: string;
  readonly #disk: SmallDisk;
  #isOver = false;
  #builds: readonly Promise<void>[] = [];
  #asking: Promise<void> = Promise.resolve();

  private constructor(world: World, token: string, disk: SmallDisk) {
    this.world = world;
    this.token = token;
    this.#disk = disk;
  }

  /** A sentence where this machine keeps nothing apart. */
  static async open(): Promise<Neighbours | string> {
    const disk = await smallDisk(4 * GIB, FILES, { isAllocated: true });
    if (typeof disk === 'string') return disk;
    let world: World | null = null;
    try {
      world = await startWorld({ home: path.join(disk.directory, 'home'), env: LIMITS });
      const isolation = /^Isolation: +(.*)$/m.exec(world.output())?.[1] ?? '';
      if (isolation.includes('networks: own')) {
        const neighbours = new Neighbours(world, await world.login(), disk);
        await neighbours.#deployAll();
        return neighbours;
      }
      await world.dispose();
      await disk.dispose();
      return `nothing is kept apart here: ${isolation}`;
    } catch (error) {
      await world?.dispose().catch(() => undefined);
      await disk.dispose();
      throw error;
    }
  }

  async #deployAll(): Promise<void> {
    const code = await archive(calmApp('calm'));
    for (const app of CALM) {
      await create(this.world, this.token, app);
      await deploy(this.world, this.token, app, code);
    }
  }

  ask(): Promise<LoadApart> {
    return startLoadApart(this.world, LOAD);
  }

  /** One of them gets new code, another one a variable; both are seen to serve by it. */
  async deploysOfOthers(round: number): Promise<void> {
    const { world, token } = this;
    const [first = '', second = ''] = [CALM[round % CALM.length], CALM[(round + 1) % CALM.length]];
    await deploy(world, token, first, await archive(calmApp(`round ${round}`)));
    await seen(world, first, '/', `round ${round}`);
    const body = JSON.stringify({ GREETING: `round ${round}` });
    const set = await world.api('POST', `/apps/${second}/env`, { token, body });
    if (set.status !== 200 || set.text.includes('"Error"')) throw new Error(`a variable of ${second}: ${set.text}`);
    await seen(world, second, '/env', `round ${round}`);
  }

  /** An app with a core and 256 MB begins to take all it can; its owner builds another one again and again meanwhile, twice at a time. */
  async beginGreedy(): Promise<void> {
    const { world, token } = this;
    const owner = await anotherUser(world);
    await create(world, owner, 'greedy');
    const plan = { name: 'one-core', memory: '256M', cpumilli: 1000 };
    await world.api('POST', '/plans', { token, body: JSON.stringify(plan) });
    const given = await world.api('POST', '/apps/greedy', { token, body: JSON.stringify({ plan: plan.name }) });
    if (given.status !== 200) throw new Error(`the plan of the greedy app: ${given.text}`);
    await deploy(world, owner, 'greedy', await archive(greedyApp()));
    const begin = (): Promise<unknown> => world.fetchApp('greedy', BEGIN).catch(() => undefined);
    await seen(world, 'greedy', BEGIN, 'greedy');
    // It is ended and started anew, by itself or by the platform.
    this.#asking = (async () => {
      while (!this.#isOver) await Promise.all([begin(), delay(ASK_MS)]);
    })();
    await create(world, owner, 'builder');
    const endless = await archive(greedyBuild());
    this.#builds = Array.from({ length: GREEDS.includes('builds') ? 2 : 0 }, async () => {
      while (!this.#isOver) await deployArchive(world, owner, 'builder', endless).catch(() => undefined);
    });
  }

  /** Its builds are over then; the app goes on. */
  async endBuilds(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#builds);
  }

  async dispose(): Promise<void> {
    this.#isOver = true;
    await this.world.dispose().catch(() => undefined);
    await Promise.all([this.#asking, ...this.#builds]);
    await this.#disk.dispose();
  }
}

async function seen(world: World, app: string, where: string, text: string): Promise<void> {
  const answer = await world.fetchApp(app, where);
  if (answer.text !== text) throw new Error(`${app} answers ${answer.status} ${answer.text}, and should ${text}`);
}
