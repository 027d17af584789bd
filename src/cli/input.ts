/** Texts that a command is given in a file or on standard input. */
import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import type { Cli } from './cli.ts';
import { CliError } from './errors.ts';

const MAX_BYTES = 1024 * 1024;

/** All of standard input. */
export function readInput(cli: Cli): Promise<string> {
  return wholeText(cli.context.stdin as AsyncIterable<Buffer | string>, 'Standard input');
}

/** What a file holds, or standard input where `file` is `-`. `next`: what to do where it cannot be read. */
export async function readFileOrInput(cli: Cli, file: string, next = 'Check its name.'): Promise<string> {
  if (file === '-') return readInput(cli);
  try {
    return await wholeText(createReadStream(resolve(cli.context.cwd, file)), `The file ${file}`);
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    throw new CliError(`The file ${file} cannot be read (${code}).`, next, { cause });
  }
}

async function wholeText(source: AsyncIterable<Buffer | string>, name: string): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of source) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > MAX_BYTES) throw new CliError(`${name} is larger than 1 MiB.`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}
