import type { Command } from 'commander';
import { createWriteStream } from 'node:fs';
import { readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Cli } from '../cli.ts';
import { CliError } from '../errors.ts';
import type { Verdict } from '../../lib/transparency-log/verify.ts';
import type { LogPart } from './audit-log.ts';

export function registerVerification(event: Command, cli: Cli): void {
  const at = (path: string): string => resolve(cli.context.cwd, path);
  event
    .command('checkpoint')
    .description(
      'Print what the audit log has signed last; keep it elsewhere, to verify the log by it later; for admins',
    )
    .action(async () => {
      const client = await cli.client();
      const { checkpoint, size, key } = await cli.during('Asking', () => client.events.log(0, 0));
      cli.show({ checkpoint, size, key }, () => checkpoint.trimEnd());
    });

  event
    .command('export')
    .description('Write the audit log into a file, with all that it takes to verify it; for admins')
    .argument('<path>', 'the file, which is made anew')
    .action(async (path: string) => {
      const [{ logOfServer }, client] = await Promise.all([import('./audit-log.ts'), cli.client()]);
      let rows = 0;
      async function* lines(): AsyncGenerator<string> {
        for await (const part of logOfServer(client)) {
          if ('row' in part) rows += 1;
          yield `${JSON.stringify(part)}\n`;
        }
      }
      await cli.during('Exporting', () => replaceFile(at(path), lines()));
      cli.show({ path, rows }, () => `${rows} rows written. To verify them: tancho event verify ${path}`);
    });

  event
    .command('verify')
    .description('Look whether the audit log was changed: each row, their order, and what the log has signed')
    .argument('[path]', 'a file that it was exported to (default: the log of the server; for admins)')
    .option(
      '--checkpoint <file>',
      'a checkpoint that was kept elsewhere: the log must still begin with what it was then',
    )
    .action(async (path: string | undefined, { checkpoint }: { checkpoint?: string }) => {
      const kept = checkpoint === undefined ? null : await readFile(at(checkpoint), 'utf8');
      const { logOfFile, logOfServer } = await import('./audit-log.ts');
      const parts = path === undefined ? logOfServer.bind(null, await cli.client()) : logOfFile.bind(null, at(path));
      const { rows, forgotten, problem } = await cli.during('Verifying', () => verified(parts, kept));
      if (problem !== null) {
        throw new CliError(
          problem,
          'Compare with backups of the database, and with checkpoints that were kept elsewhere.',
        );
      }
      const without =
        kept === null
          ? ' No checkpoint that was kept elsewhere was given: a log that was forged as a whole looks like this, too.'
          : '';
      cli.show(
        { rows, forgotten },
        () =>
          `All ${rows} rows are as they were recorded (${forgotten} without content, which was removed for its age).${without}`,
      );
    });
}

/** As a whole or not at all: what was exported before may be all that is left of a log. Devices and pipes are written to. */
async function replaceFile(path: string, lines: AsyncIterable<string>): Promise<void> {
  const before = await stat(path).catch(() => null);
  if (before !== null && !before.isFile()) return pipeline(Readable.from(lines), createWriteStream(path));
  const target = before === null ? path : await realpath(path);
  const fresh = `${target}.${process.pid}.new`;
  const mode = before === null ? 0o666 : before.mode & 0o777;
  try {
    await pipeline(Readable.from(lines), createWriteStream(fresh, { flags: 'wx', mode, flush: true }));
    await rename(fresh, target);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
}

/** Older checkpoints only say where a fault is, so they are looked at when there is one. */
async function verified(parts: () => AsyncIterable<LogPart>, kept: string | null): Promise<Verdict> {
  const verdict = await verdictOn(parts(), kept, false);
  return verdict.problem === null ? verdict : verdictOn(parts(), kept, true);
}

async function verdictOn(parts: AsyncIterable<LogPart>, kept: string | null, isExact: boolean): Promise<Verdict> {
  const [{ LogVerifier }, { forgetsOf }] = await Promise.all([
    import('../../lib/transparency-log/verify.ts'),
    import('./audit-log.ts'),
  ]);
  const verifier = new LogVerifier(kept, forgetsOf);
  let head = { key: '', checkpoint: '' };
  for await (const part of parts) {
    if ('head' in part) head = part.head;
    else if ('row' in part) {
      if (!verifier.add(part.row)) break;
    } else if (isExact) verifier.checkpoint(part.checkpoint);
  }
  return verifier.verdict(head);
}
