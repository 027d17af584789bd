/** A platform for pushes of the corpus, and what a person sees of them. */
import { allowPush, createIdentity, createWorkTree, sshUrl, type WorkTree } from '../../support/git.ts';
import { type HttpAnswer, type Ran, run, startWorld, type World } from '../../support/world.ts';
import { RUSTUP } from './needs.ts';

export const PUSH_MS = 15 * 60_000;

export interface PushResult extends Ran {
  /** The record of the deploy. */
  readonly cause: string;
  readonly error: string;
}

export interface CorpusWorld {
  readonly world: World;
  /** Once per name. */
  createApp(name: string, platform: string): Promise<void>;
  workTree(files: Readonly<Record<string, string>>): Promise<WorkTree>;
  push(work: WorkTree, app: string): Promise<PushResult>;
  page(app: string, path: string): Promise<HttpAnswer>;
  /** In the directory of an app, else in none; throws for a command that fails. */
  tancho(args: readonly string[], work?: WorkTree): Promise<string>;
  /** With other settings, as an operator does. */
  restart(env: Readonly<Record<string, string>>): Promise<void>;
  dispose(): Promise<void>;
}

export async function corpusWorld(env: Readonly<Record<string, string>> = {}): Promise<CorpusWorld> {
  // A worker that fails at once is to do so while it is watched, also on a machine that is busy.
  const settings: Record<string, string> = { ...RUSTUP, TANCHO_UNITS_WATCH: '5', ...env };
  const world = await startWorld({ env: settings });
  const ann = await createIdentity();
  const token = await allowPush(world, ann);
  const made = new Set<string>();
  return {
    world,
    async createApp(name, platform) {
      if (made.has(name)) return;
      made.add(name);
      const answer = await world.api('POST', '/apps', { token, body: JSON.stringify({ name, platform }) });
      if (answer.status !== 200) throw new Error(`${name}: ${answer.text}`);
    },
    workTree: (files) => createWorkTree(files, ann),
    async push(work, app) {
      const args = ['push', '--force', sshUrl(world, app), 'HEAD:refs/heads/main'];
      const ran = await run('git', args, { cwd: work.dir, env: work.env, timeoutMs: PUSH_MS });
      const answer = await world.api('GET', `/deploys?app=${app}&limit=1`, { token });
      const [deploy] = answer.json<{ Cause: string; Error: string }[]>();
      return { ...ran, cause: deploy?.Cause ?? '', error: deploy?.Error ?? '' };
    },
    page: (app, path) => world.fetchApp(app, path),
    async tancho(args, work) {
      const ran = await world.cli(args, work === undefined ? {} : { cwd: work.dir });
      if (ran.code !== 0) throw new Error(`tancho ${args.join(' ')}: ${ran.stderr}`);
      return ran.stdout;
    },
    async restart(changed) {
      await world.end('SIGTERM');
      Object.assign(settings, changed);
      await world.startAgain();
    },
    async dispose() {
      await world.dispose();
      await ann.dispose();
    },
  };
}

/** What browsers would load beside a page of HTML: paths of the app itself. */
export function namedIn(html: string): string[] {
  const found = [
    ...html.matchAll(/<(?:script|link|img)\b[^>]*?\s(?:src|href)=["']?(\/[^"'\s>]*|[\w.][^"'\s>:]*)["'\s>]/g),
  ];
  return [...new Set(found.map(([, path = '']) => path))].filter((path) => !path.startsWith('//'));
}
