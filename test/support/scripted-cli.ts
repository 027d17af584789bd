/** The command line against platforms that answer as a script says, one for each run. */
import { CliWorld, type RunOptions } from './cli-world.ts';
import { type Reply, startPlatform } from './scripted-platform.ts';

export class ScriptedCli {
  readonly world = new CliWorld();
  readonly #closers: (() => Promise<void>)[] = [];

  /** Runs a command against a platform that answers like this. */
  async against(replies: Readonly<Record<string, Reply>>, argv: readonly string[], options: RunOptions = {}) {
    const platform = await startPlatform(replies);
    this.#closers.push(platform.close);
    const env = { TANCHO_TARGET: platform.url, TANCHO_TOKEN: 'tok', ...options.env };
    const ran = await this.world.run(argv, { ...options, env });
    return { ...ran, asked: platform.asked, lines: platform.lines(), url: platform.url };
  }

  async close(): Promise<void> {
    this.world.dispose();
    for (const close of this.#closers.splice(0)) await close();
  }
}
