/** Code as an archive, and its deploys by the API. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { World } from './world.ts';

const run = promisify(execFile);

export async function archive(files: Readonly<Record<string, string>>): Promise<Buffer> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tancho-archive-'));
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, name), text);
    return (await run('tar', ['-czf', '-', '-C', folder, '.'], { encoding: 'buffer' })).stdout;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What the deploy has said; it ends in `OK` when it is done. */
export async function deployArchive(world: World, token: string, app: string, code: Buffer): Promise<string> {
  const headers = { authorization: `bearer ${token}`, 'content-type': 'application/gzip' };
  const body = new Uint8Array(code);
  const answer = await fetch(`${world.apiUrl}/apps/${app}/deploy`, { method: 'POST', headers, body });
  return answer.text();
}
