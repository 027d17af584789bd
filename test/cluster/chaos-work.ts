/** What people go on doing in chaos.test.ts, by whichever server answers: changes of an environment, and pushes. */
import { createWorkTree, type Identity, nodeApp, sshUrl, type WorkTree } from '../support/git.ts';
import { run, type World } from '../support/world.ts';

interface WorkOptions {
  readonly worlds: readonly World[];
  readonly token: string;
  readonly app: string;
}

const BETWEEN_CHANGES_MS = 2_000;
const BETWEEN_PUSHES_MS = 8_000;

/** Does it again and again, a while after the last time, until it is stopped. */
class Repeated {
  tried = 0;
  #isOver = false;
  #running: Promise<void> = Promise.resolve();

  begin(pauseMs: number, once: (number: number) => Promise<void>): void {
    const all = async (): Promise<void> => {
      while (!this.#isOver) {
        await once(++this.tried);
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    };
    this.#running = all();
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }
}

/** Each sets a variable of its own. */
export class Changes extends Repeated {
  readonly acknowledged = new Map<string, string>();
  readonly #options: WorkOptions;

  constructor(options: WorkOptions) {
    super();
    this.#options = options;
    this.begin(BETWEEN_CHANGES_MS, (number) => this.#change(number));
  }

  async #change(number: number): Promise<void> {
    const { worlds, token, app } = this.#options;
    const [name, value] = [`CHANGE_${number}`, `value ${number}`];
    const body = JSON.stringify({ [name]: value });
    const answer = await worlds[number % worlds.length]
      ?.api('POST', `/apps/${app}/env`, { token, body })
      .catch(() => null);
    if (answer?.status === 200) this.acknowledged.set(name, value);
  }

  /** Acknowledged, and not there. */
  async lost(): Promise<readonly string[]> {
    const { worlds, token, app } = this.#options;
    const lost = await Promise.all(
      worlds.map(async (world) => {
        const answer = await world.api('GET', `/apps/${app}/env`, { token });
        const known = new Map(answer.json<{ name: string; value: string }[]>().map(({ name, value }) => [name, value]));
        return [...this.acknowledged].filter(([name, value]) => known.get(name) !== value).map(([name]) => name);
      }),
    );
    return lost.flat();
  }
}

/** Each is a version that the app answers with. */
export class Pushes extends Repeated {
  /** Commits with their number, in their order. */
  readonly acknowledged: { readonly commit: string; readonly number: number }[] = [];
  readonly #options: WorkOptions & { readonly identity: Identity };
  #work: WorkTree | null = null;

  constructor(options: WorkOptions & { readonly identity: Identity }) {
    super();
    this.#options = options;
    this.begin(BETWEEN_PUSHES_MS, (number) => this.#push(number));
  }

  async #push(number: number): Promise<void> {
    const { worlds, app, identity } = this.#options;
    const world = worlds[number % worlds.length];
    if (world === undefined) return;
    if (this.#work === null) {
      const work = await createWorkTree({}, identity);
      const begun = await run('git', ['pull', '-q', '--rebase', sshUrl(world, app), 'main'], {
        cwd: work.dir,
        env: work.env,
      });
      if (begun.code !== 0) return work.dispose();
      this.#work = work;
    }
    await this.#work.write(nodeApp(String(number)));
    const commit = await this.#work.commit(`version ${number}`);
    const pushed = await this.#work.push(sshUrl(world, app)).catch(() => null);
    if (pushed?.code === 0) this.acknowledged.push({ commit, number });
    else
      console.log(
        `push ${number}: ${pushed?.stderr
          .split('\n')
          .filter((line) => line.includes('!'))
          .join(' | ')}`,
      );
  }

  /** Acknowledged, and not in the branch or not what answers, as each server says. */
  async lost(): Promise<readonly string[]> {
    const lost: string[] = [];
    for (const world of this.#options.worlds) {
      const fetched = await this.#git('fetch', '-q', sshUrl(world, this.#options.app), 'main');
      if (fetched.code !== 0) lost.push(`the branch: ${fetched.stderr}`);
      for (const { commit, number } of this.acknowledged) {
        const { code } = await this.#git('merge-base', '--is-ancestor', commit, 'FETCH_HEAD');
        if (code !== 0) lost.push(`push ${number} at ${world.apiUrl}`);
      }
      const { text } = await world.fetchApp(this.#options.app);
      const newest = this.acknowledged.at(-1)?.number ?? 0;
      if (Number(text) < newest) lost.push(`${world.edge} answers ${text} after push ${newest}`);
    }
    await this.#work?.dispose();
    return lost;
  }

  #git(...args: string[]): ReturnType<typeof run> {
    return run('git', args, { cwd: this.#work?.dir ?? '', env: this.#work?.env ?? {} });
  }
}
