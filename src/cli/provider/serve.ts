/** Runs a provider in the foreground: says where it is and how to make the platform use it, until a signal ends it. */
import { rm, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { BadValue, listen } from '../../config/parsers.ts';
import { isLoopbackHost } from '../../lib/loopback-host.ts';
import type { Credentials } from '../../providers/request.ts';
import type { RunningProvider } from '../../providers/serve.ts';
import type { Cli } from '../cli.ts';
import { CliError, UsageError } from '../errors.ts';
import { facts } from '../output.ts';

export interface ServeFlags {
  readonly listen: string;
  readonly publicUrl?: string;
  readonly name: string;
  readonly username?: string;
  readonly password?: string;
  readonly manifest?: string;
}

export interface Started extends RunningProvider {
  readonly warnings: readonly string[];
  /** What it has made is there after its end. */
  readonly isLasting: boolean;
}

export interface ServeAt extends Credentials {
  readonly host: string;
  readonly port: number;
  /** A line beside the output: one per call. */
  readonly log: (line: string) => void;
}

const NAME = /^[a-z][a-z0-9-]{0,39}$/;

export async function serveUntilSignal(
  cli: Cli,
  flags: ServeFlags,
  start: (place: ServeAt) => Promise<Started>,
): Promise<void> {
  const { server, signal, stderr } = cli.context;
  if (!NAME.test(flags.name)) {
    throw new UsageError('--name must be up to 40 lower-case letters, digits and dashes, and begin with a letter.');
  }
  if (flags.publicUrl !== undefined && !/^https?:\/\/[^/]/.test(flags.publicUrl)) {
    throw new UsageError('--public-url must be an address such as https://db.example.com.');
  }
  const asked = new Promise<void>((ended) => {
    server.onSignal(() => ended());
    signal.addEventListener('abort', () => ended(), { once: true });
  });
  const { password, isNew } = await passwordOf(cli, flags);
  const credentials = { username: flags.username ?? flags.name, password };
  const place = { ...placeOf(flags.listen), ...credentials, log: (line: string) => void stderr.write(`${line}\n`) };
  const running = await start(place).catch((error: unknown) => {
    throw explained(error, flags.listen);
  });
  try {
    await announce(cli, flags, { running, credentials, isNew });
    await asked;
    cli.note('Stopping ...');
  } finally {
    await running.stop();
  }
}

async function passwordOf(cli: Cli, flags: ServeFlags): Promise<{ password: string; isNew: boolean }> {
  const given = flags.password ?? '';
  if (given !== '') {
    cli.warn('--password can be read by everybody on this machine; TANCHO_PROVIDER_PASSWORD cannot.');
    return { password: given, isNew: false };
  }
  const set = cli.context.env['TANCHO_PROVIDER_PASSWORD'] ?? '';
  if (set !== '') return { password: set, isNew: false };
  const { newPassword } = await import('../../providers/sealed-passwords.ts');
  return { password: newPassword(), isNew: true };
}

function placeOf(text: string): { host: string; port: number } {
  try {
    return listen(text);
  } catch (error) {
    if (error instanceof BadValue) throw new UsageError(`--listen ${error.message}.`);
    throw error;
  }
}

interface Announced {
  readonly running: Started;
  readonly credentials: Credentials;
  /** The password was made for this start. */
  readonly isNew: boolean;
}

async function announce(cli: Cli, flags: ServeFlags, { running, credentials, isNew }: Announced): Promise<void> {
  const { manifestText } = await import('../../providers/manifest.ts');
  const url = (flags.publicUrl ?? running.url).replace(/\/+$/, '');
  const text = manifestText({ service: flags.name, url, ...credentials });
  if (flags.manifest !== undefined) {
    const file = resolve(cli.context.cwd, flags.manifest);
    // A file that is there may be readable by others.
    await rm(file, { force: true });
    await writeFile(file, text, { mode: 0o600, flag: 'wx' });
  }
  for (const warning of running.warnings) cli.warn(warning);
  if (!isLoopbackHost(new URL(url).host) && !url.startsWith('https:')) {
    cli.warn(`${url} is not encrypted; others on the way can read passwords. Put TLS in front and give --public-url.`);
  }
  const shown = isNew ? { ...credentials } : { username: credentials.username };
  cli.show({ service: flags.name, url, ...shown, ...(isNew ? { manifest: text } : {}) }, () =>
    [
      `The provider of the service "${flags.name}" is ready.`,
      facts([
        ['Address', url],
        ['Username', credentials.username],
        ['Password', isNew ? `${credentials.password}   (shown only this once)` : '(the one you have set)'],
      ]),
      ...(isNew ? ['It changes with the next start; set TANCHO_PROVIDER_PASSWORD to keep one.'] : []),
      '',
      ...(flags.manifest === undefined
        ? manifestLines(text, credentials, isNew)
        : [`The manifest is in ${flags.manifest}: tancho service create ${flags.manifest}`]),
      '',
      `Ctrl-C stops the provider; instances and bindings ${running.isLasting ? 'stay' : 'are forgotten'}.`,
    ].join('\n'),
  );
}

/** A password that the operator has set is never printed. */
function manifestLines(text: string, { password }: Credentials, isNew: boolean): string[] {
  const note = isNew ? '' : ' with the password you have set';
  const shown = isNew ? text : text.replaceAll(JSON.stringify(password), '...').replaceAll(password, '...');
  return [
    `To use it, save this as service.yaml${note} (--manifest does that) and run: tancho service create service.yaml`,
    '',
    shown.trimEnd(),
  ];
}

function explained(error: unknown, place: string): unknown {
  const { code = '', message = '' } = error as Partial<{ code: string; message: string }>;
  if (code === 'EADDRINUSE') {
    return new CliError(`Another program already listens on ${place}.`, 'Choose another place: --listen 127.0.0.1:0');
  }
  if (['EACCES', 'EADDRNOTAVAIL'].includes(code))
    return new CliError(`Cannot listen on ${place}: ${code}.`, '', { cause: error });
  if (error instanceof CliError) return error;
  return new CliError(
    message === '' ? String(error) : message,
    'Is the server of --url there, and is the password right?',
    {
      cause: error,
    },
  );
}
