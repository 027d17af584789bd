import type { Command } from 'commander';
import type { RemoteShell } from '../../client/shell.ts';
import type { Cli } from '../cli.ts';
import type { InputStream, Output } from '../context.ts';
import { appName } from '../git.ts';
import { APP_OPTION } from './app-option.ts';

export function registerShell(app: Command, cli: Cli): void {
  app
    .command('shell')
    .description("Open a shell in an app's surroundings; exits with its code")
    .argument('[unit]', 'beside which unit: its name, number or ID')
    .option(...APP_OPTION)
    .action(async (unit: string | undefined, options: { app?: string }) => {
      const name = await appName(cli, options.app);
      const client = await cli.client();
      const { stdin, stdout, env, signal } = cli.context;
      const isTerminal = stdin.isTTY === true && stdout.isTTY === true;
      const shell = await client.apps.shell(name, {
        ...(unit !== undefined && { unit }),
        ...(isTerminal && { size: sizeOf(stdout) }),
        ...(isTerminal && env['TERM'] !== undefined && { term: env['TERM'] }),
        output: (bytes) => void stdout.write(bytes),
        signal,
      });
      cli.exitCode = await attach(shell, stdin, stdout, isTerminal);
    });
}

/** The terminal is the shell's until it ends: keys go to it as they are. */
async function attach(shell: RemoteShell, stdin: InputStream, stdout: Output, isTerminal: boolean): Promise<number> {
  const onSize = (): void => shell.resize(sizeOf(stdout));
  const onData = (bytes: Buffer): void => shell.write(bytes);
  const onEnd = (): void => shell.endInput();
  if (isTerminal) stdin.setRawMode?.(true);
  if (isTerminal) stdout.on('resize', onSize);
  stdin.on('data', onData).once('end', onEnd);
  try {
    return await shell.ended;
  } finally {
    stdin.off('data', onData).off('end', onEnd).pause();
    stdout.off('resize', onSize);
    if (isTerminal) stdin.setRawMode?.(false);
  }
}

function sizeOf({ columns, rows }: Output): { width: number; height: number } {
  return columns === undefined || rows === undefined ? { width: 80, height: 24 } : { width: columns, height: rows };
}
