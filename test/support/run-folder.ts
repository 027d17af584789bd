/** For vitest: a folder for what several files of a run need, there until the run ends; its workers are killed, so none of them could remove it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'tancho-run-'));
  process.env['TANCHO_TEST_RUN'] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
