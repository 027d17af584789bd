/** Apps of a world, and pushes to them with a stop-watch. */
import {
  allowPush,
  createIdentity,
  createWorkTree,
  sshUrl,
  type Identity,
  type WorkTree,
} from '../test/support/git.ts';
import type { World } from '../test/support/world.ts';
import type { Bench } from './bench.ts';
import { firstAnswer } from './first-answer.ts';
import { isStart, type Files } from './sample-apps.ts';

export type Door = 'ssh' | 'http';

export interface PushTimes {
  /** From the start of `git push` to the first answer of the new version. */
  readonly answeredMs: number;
  /** Until `git push` has returned. */
  readonly returnedMs: number;
}

export class Pusher {
  readonly world: World;
  readonly token: string;
  readonly identity: Identity;
  readonly #lastAnswers = new Map<string, string>();

  private constructor(world: World, identity: Identity, token: string) {
    this.world = world;
    this.identity = identity;
    this.token = token;
  }

  static async open(bench: Bench, world: World): Promise<Pusher> {
    const identity = bench.keep(await createIdentity());
    return new Pusher(world, identity, await allowPush(world, identity));
  }

  async createApp(name: string, platform = 'nodejs'): Promise<void> {
    const body = JSON.stringify({ name, platform });
    const answer = await this.world.api('POST', '/apps', { token: this.token, body });
    if (answer.status !== 200) throw new Error(`creating ${name}: ${answer.status} ${answer.text}`);
  }

  async removeApp(name: string): Promise<void> {
    const answer = await this.world.api('DELETE', `/apps/${name}`, { token: this.token });
    if (answer.status !== 200) throw new Error(`removing ${name}: ${answer.status} ${answer.text}`);
  }

  workTree(files: Files): Promise<WorkTree> {
    return createWorkTree(files, this.identity);
  }

  /** A new app with its first version serving. */
  async deploy(name: string, files: Files): Promise<void> {
    const work = await this.workTree(files);
    try {
      await this.createApp(name);
      await this.push(work, name, 'ssh');
    } finally {
      await work.dispose();
    }
  }

  async push(work: WorkTree, app: string, door: Door): Promise<PushTimes> {
    const before = this.#lastAnswers.get(app);
    const stop = new AbortController();
    const port = Number(this.world.edge.split(':')[1]);
    const isNew = (text: string): boolean => isStart(text) && text !== before;
    const begun = performance.now();
    const answer = firstAnswer({ port, host: `${app}.localhost` }, isNew, stop.signal);
    answer.catch(() => {});
    try {
      await pushed(work, this.url(app, door), 'main');
    } catch (error) {
      stop.abort(error);
      throw error;
    }
    const returned = performance.now();
    const { at, text } = await answer;
    this.#lastAnswers.set(app, text);
    return { answeredMs: at - begun, returnedMs: returned - begun };
  }

  /** The floor: the same door and the same objects, but a branch that is not deployed. */
  async pushOnly(work: WorkTree, app: string, door: Door): Promise<number> {
    return pushed(work, this.url(app, door), 'floor');
  }

  url(app: string, door: Door): string {
    if (door === 'ssh') return sshUrl(this.world, app);
    const url = new URL(`${this.world.apiUrl}/git/${app}.git`);
    url.username = encodeURIComponent(this.world.adminEmail);
    url.password = this.token;
    return url.href;
  }
}

/** Milliseconds until git has returned; throws when it failed. */
export async function pushed(work: WorkTree, url: string, branch: string): Promise<number> {
  const begun = performance.now();
  const ran = await work.push(url, branch);
  if (ran.code !== 0) throw new Error(`git push failed: ${ran.stderr}`);
  return performance.now() - begun;
}
