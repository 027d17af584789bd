/** Two servers on one machine that do not pass each other's packet filter. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Bench } from '../bench.ts';
import type { LoadResult } from '../http-load.ts';
import type { PushTimes } from '../pushing.ts';

const SIDE = fileURLToPath(new URL(`./side${import.meta.url.slice(-3)}`, import.meta.url));
const UNSHARE = ['--net', '--mount', '--propagation', 'private'];

export type Question =
  | { readonly ask: 'networks' }
  | { readonly ask: 'push' }
  | { readonly ask: 'firewall' }
  | { readonly ask: 'load'; readonly seconds: number };

export interface Loaded {
  readonly load: LoadResult;
  /** Processor time of the edge meanwhile. */
  readonly edgeMs: number;
}

export type Answer = { readonly own: boolean } | { readonly push: PushTimes } | { readonly firewall: true } | Loaded;

/** A server in namespaces of its own, as root; its loopback and packet filter are nobody else's. */
export class Apart {
  readonly #child: ChildProcess;
  readonly #ended: Promise<never>;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#ended = once(child, 'exit').then(() => Promise.reject(new Error('a server of the measure ended')));
    this.#ended.catch(() => {});
  }

  static async open(bench: Bench, network: string): Promise<Apart> {
    const child = fork(SIDE, [network], {
      execPath: 'unshare',
      execArgv: [...UNSHARE, process.execPath, ...process.execArgv],
    });
    const apart = new Apart(child);
    const ended = once(child, 'exit');
    bench.keep({
      async dispose() {
        if (child.connected) child.disconnect();
        await ended;
      },
    });
    await apart.#next();
    return apart;
  }

  async hasOwnNetworks(): Promise<boolean> {
    return (await this.#asked<{ own: boolean }>({ ask: 'networks' })).own;
  }

  async push(): Promise<PushTimes> {
    return (await this.#asked<{ push: PushTimes }>({ ask: 'push' })).push;
  }

  /** From then on its machine has one, as most do. */
  async addFirewall(): Promise<void> {
    await this.#asked({ ask: 'firewall' });
  }

  load(seconds: number): Promise<Loaded> {
    return this.#asked<Loaded>({ ask: 'load', seconds });
  }

  async #asked<Wanted extends Answer>(question: Question): Promise<Wanted> {
    this.#child.send(question);
    const answer = await this.#next();
    if ('failed' in answer) throw new Error(answer.failed);
    return answer as Wanted;
  }

  async #next(): Promise<Answer | { readonly failed: string }> {
    const [message] = (await Promise.race([once(this.#child, 'message'), this.#ended])) as [Answer];
    return message;
  }
}
