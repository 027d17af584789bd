/** Finding and reading the user's own public key. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isThere } from '../../lib/is-there.ts';
import type { Cli } from '../cli.ts';
import { CliError } from '../errors.ts';
import { readFileOrInput } from '../input.ts';

const USUAL = ['id_ed25519.pub', 'id_ecdsa.pub', 'id_rsa.pub'];
const PUBLIC_KEY = /^(ssh-|ecdsa-|sk-)[\w@.-]+ [A-Za-z0-9+/]+=*( .*)?$/;

export async function findPublicKey(cli: Cli): Promise<string> {
  const folder = join(cli.context.env['HOME'] ?? homedir(), '.ssh');
  for (const name of USUAL) {
    const path = join(folder, name);
    if (await isThere(path)) return path;
  }
  throw new CliError(`There is no public key in ${folder}.`, 'Make one with: ssh-keygen -t ed25519');
}

export async function readPublicKey(cli: Cli, path: string): Promise<string> {
  const text = (await readFileOrInput(cli, path)).trim();
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
