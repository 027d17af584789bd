/** Which platform a command goes to, and as whom: --target, TANCHO_TARGET, the saved login, the machine's own socket. */
import { join } from 'node:path';
import { type Client, createClient } from '../client/client.ts';
import { socketProblem } from '../lib/socket-problem.ts';
import type { CliContext } from './context.ts';
import { CliError, UsageError } from './errors.ts';
import { readTargets } from './target-store.ts';

export interface Chosen {
  readonly client: Client;
  /** '' over the socket. */
  readonly url: string;
  readonly via: 'option' | 'variable' | 'login' | 'socket';
}

export const DEFAULT_URL = 'http://127.0.0.1:8080';

export async function chooseTarget(context: CliContext, option: string | undefined): Promise<Chosen> {
  const variable = context.env['TANCHO_TARGET'] ?? '';
  const asked = option ?? (variable === '' ? undefined : variable);
  const saved = await readTargets(context.env);
  const url = asked === undefined ? saved.current : normalUrl(asked);
  if (url !== '') {
    const via = option !== undefined ? 'option' : asked !== undefined ? 'variable' : 'login';
    return { client: createClient({ baseUrl: url }, tokenFor(context, saved.targets[url]?.token)), url, via };
  }
  const socketPath = join(context.home, 'run', 'api.sock');
  const problem = await socketProblem(socketPath);
  if (problem === null) return { client: createClient({ socketPath }), url: '', via: 'socket' };
  throw new CliError(
    problem === 'EACCES'
      ? `You may not open ${socketPath}: it belongs to another user.`
      : 'No platform is chosen, and none runs on this machine.',
    'Log in to one: tancho login http://<host>:8080, or start one here: tancho server',
  );
}

function tokenFor(context: CliContext, saved: string | undefined): string | undefined {
  const variable = context.env['TANCHO_TOKEN'] ?? '';
  return variable === '' ? saved : variable;
}

/** `127.0.0.1:8080` -> `http://127.0.0.1:8080`; without a slash at the end. */
export function normalUrl(text: string): string {
  const full = text.includes('://') ? text : `http://${text}`;
  const url = URL.canParse(full) ? new URL(full) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new UsageError(`"${text}" is not the address of a platform.`, `Use an address such as ${DEFAULT_URL}.`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new UsageError('The address of a platform must not hold a password.', 'Log in with: tancho login <url>');
  }
  return url.href.replace(/\/+$/, '');
}
