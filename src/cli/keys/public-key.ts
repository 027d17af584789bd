/** Finding and reading the user's own public key. */
import { access, readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Cli } from '../cli.ts';
import { CliError } from '../errors.ts';
import { readInput } from '../prompt.ts';

const USUAL = ['id_ed25519.pub', 'id_ecdsa.pub', 'id_rsa.pub'];
const PUBLIC_KEY = /^(ssh-|ecdsa-|sk-)[\w@.-]+ [A-Za-z0-9+/]+=*( .*)?$/;

export async function findPublicKey(cli: Cli): Promise<string> {
  const folder = join(cli.context.env['HOME'] ?? homedir(), '.ssh');
  for (const name of USUAL) {
    const path = join(folder, name);
    const there = await access(path).then(
      () => true,
      () => false,
    );
    if (there) return path;
  }
  throw new CliError(`There is no public key in ${folder}.`, 'Make one with: ssh-keygen -t ed25519');
}

export async function readPublicKey(cli: Cli, path: string): Promise<string> {
  const text = (path === '-' ? await readInput(cli) : await readKeyFile(resolve(cli.context.cwd, path))).trim();
  if (text.includes('PRIVATE KEY')) {
    throw new CliError(
      `${path} is a private key, which must stay with you.`,
      `Use the public one: tancho key add ${path}.pub`,
    );
  }
  if (!PUBLIC_KEY.test(text)) {
    throw new CliError(
      `${path} does not hold one public SSH key.`,
      'Such a key is one line that begins like "ssh-ed25519 AAAA".',
    );
  }
  return text;
}

async function readKeyFile(path: string): Promise<string> {
  try {
    if ((await stat(path)).size > 64 * 1024)
      throw new CliError(`${path} is too large for a key.`, 'Name a public key.');
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`, 'Check the path.');
  }
}
