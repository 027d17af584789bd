/** The first start: a sample app goes the way every app goes, through the API and a real git push. */
import { spawn } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Client, createClient } from '../client/client.ts';
import { ClientError } from '../client/errors.ts';
import { bareHost } from '../lib/host-port.ts';
import { request } from '../lib/node-http.ts';
import type { Cli } from './cli.ts';
import { CliError } from './errors.ts';
import { printableOutput } from './output.ts';
import type { RunningServer } from './server/door.ts';

const SAMPLE = 'hello';
const PLATFORM = 'nodejs';
const FIRST_ANSWER_MS = 30_000;

export interface Welcome {
  readonly server: RunningServer;
  readonly admin: { readonly email: string; readonly password: string };
  readonly signal: AbortSignal;
}

/** Address of the sample app, once it has answered. */
export async function deploySample(cli: Cli, { server, admin, signal }: Welcome): Promise<string> {
  const client = createClient({ socketPath: join(cli.context.home, 'run', 'api.sock') });
  cli.note(`Deploying the sample app "${SAMPLE}" (examples/hello-node) ...`);
  const platform = await samplePlatform(client);
  const team = await anyTeam(client);
  try {
    await client.apps.create({ name: SAMPLE, platform, teamOwner: team });
  } catch (error) {
    // From a first start that was interrupted.
    if (!(error instanceof ClientError) || error.code !== 'app.name_taken') throw error;
  }
  const folder = await mkdtemp(join(tmpdir(), 'tancho-hello-'));
  try {
    await cp(join(cli.context.packageRoot, 'examples', 'hello-node'), folder, {
      recursive: true,
      filter: (source) => !/[/\\](node_modules|\.git)$/.test(source),
    });
    const git = (args: readonly string[], env: NodeJS.ProcessEnv = {}) => runGit(cli, folder, args, env, signal);
    await git(['init', '--quiet', '-b', 'main']);
    await git(['add', '--all']);
    const who = ['-c', 'user.name=Tancho', '-c', `user.email=${admin.email}`, '-c', 'commit.gpgsign=false'];
    await git([...who, 'commit', '--quiet', '-m', 'Hello']);
    const repository = `${server.ready.apiUrl}/git/${SAMPLE}.git`;
    await git(['push', '--quiet', repository, 'main'], gitCredentials(server.ready.apiUrl, admin));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  const { Ip: address = '' } = await client.apps.info(SAMPLE);
  if (server.ready.edgeAddress !== null) await firstAnswer(server.ready.edgeAddress, address, signal);
  return `http://${address}`;
}

async function samplePlatform(client: Client): Promise<string> {
  const platforms = await client.platforms.list();
  const found = platforms.find(({ Name }) => Name === PLATFORM);
  if (found === undefined)
    throw new CliError(`The platform ${PLATFORM} is not there.`, 'See: npx tancho platform list');
  if (found.Ready !== false) return found.Name;
  throw new CliError(
    `The platform ${PLATFORM} is not ready: ${(found.Missing ?? []).join(' ')}`,
    'Install it and start again.',
  );
}

async function anyTeam(client: Client): Promise<string> {
  const [first] = await client.teams.list();
  if (first !== undefined) return first.name;
  await client.teams.create('main');
  return 'main';
}

/** Credentials reach git through its environment: a command line can be read by every user of the machine. */
function gitCredentials(apiUrl: string, admin: { email: string; password: string }): NodeJS.ProcessEnv {
  const basic = Buffer.from(`${admin.email}:${admin.password}`).toString('base64');
  return {
    GIT_CONFIG_COUNT: '2',
    GIT_CONFIG_KEY_0: `http.${apiUrl}/.extraHeader`,
    GIT_CONFIG_VALUE_0: `Authorization: Basic ${basic}`,
    GIT_CONFIG_KEY_1: 'credential.helper',
    GIT_CONFIG_VALUE_1: '',
  };
}

/** Runs git without the user's own configuration, and prints what it says, which is the progress of the deploy. */
function runGit(
  cli: Cli,
  cwd: string,
  args: readonly string[],
  extra: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<void> {
  const { PATH, HOME, TMPDIR } = cli.context.env;
  const quiet = { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' };
  const env = { PATH, HOME, TMPDIR, ...quiet, ...extra };
  return new Promise((resolve, reject) => {
    const child = spawn('git', [...args], { cwd, env, signal, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr]) {
      let rest = '';
      stream.setEncoding('utf8');
      stream.on('data', (text: string) => {
        const lines = (rest + text).split(/\r?\n/);
        rest = lines.pop() ?? '';
        for (const line of lines) cli.note(`  ${printableOutput(line.trimEnd())}`.trimEnd());
      });
      stream.on('end', () => {
        if (rest !== '') cli.note(`  ${printableOutput(rest)}`);
      });
    }
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve();
      else
        reject(
          new CliError(`git ${args.find((word) => /^[a-z]+$/.test(word)) ?? ''} failed.`, 'The lines above say why.'),
        );
    });
  });
}

/**
 * Asks at the edge itself with the app's name in the Host header: not every system knows names below localhost.
 * Anything below status 500 is the app's own answer.
 */
async function firstAnswer(edgeAddress: string, host: string, signal: AbortSignal): Promise<void> {
  const deadline = Date.now() + FIRST_ANSWER_MS;
  for (;;) {
    const status = await statusOf(edgeAddress, host, signal);
    if (status > 0 && status < 500) return;
    if (Date.now() >= deadline) {
      const why = status === 0 ? 'nothing answers' : `status ${status}`;
      throw new CliError(
        `The sample app was deployed but does not answer at http://${host} (${why}).`,
        `See: npx tancho app log ${SAMPLE}`,
      );
    }
    await delay(100, undefined, { signal });
  }
}

function statusOf(edgeAddress: string, host: string, signal: AbortSignal): Promise<number> {
  const edge = new URL(`http://${edgeAddress}`);
  const options = {
    hostname: bareHost(edge),
    port: edge.port,
    headers: { host },
    signal,
    agent: false,
  };
  return new Promise((resolve, reject) => {
    const asked = request(options, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asked.setTimeout(5000, () => asked.destroy());
    asked.once('error', () => (signal.aborted ? reject(signal.reason as Error) : resolve(0)));
    asked.end();
  });
}

/** The three commands for one's own app; the first is run here, the others where the code is. */
export function howToDeploy(server: RunningServer, cli: Cli): string {
  const { firstAdmin, ready } = server;
  const api = new URL(ready.apiUrl);
  if (firstAdmin !== null) api.username = encodeURIComponent(firstAdmin.email);
  const remote = `${api.href.replace(/\/$/, '')}/git/my-app.git`;
  const password = firstAdmin === null ? 'your password' : 'the password above';
  return [
    'To deploy your own app, say my-app:',
    `  ${cli.paint('dim', '# here')}`,
    '  npx tancho app create my-app',
    `  ${cli.paint('dim', '# in the folder with your code, committed to git')}`,
    `  git remote add tancho ${remote}`,
    `  git push tancho HEAD:main     ${cli.paint('dim', `# asks for ${password}`)}`,
    'The language is seen in the code; those it knows, here: npx tancho platform list',
  ].join('\n');
}
