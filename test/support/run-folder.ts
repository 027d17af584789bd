/**
 * For vitest: a folder for what several files of a run need, there until the run ends; its workers are killed, so none of them could remove it.
 * Then servers are ended, too, whose tests were interrupted or killed before they could do so.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endLeftServers } from './left-servers.ts';

export default function setup(): () => Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tancho-run-'));
  process.env['TANCHO_TEST_RUN'] = folder;
  return async () => {
    await endLeftServers(folder);
    rmSync(folder, { recursive: true, force: true });
  };
}
