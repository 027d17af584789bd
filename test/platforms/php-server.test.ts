import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { PLATFORM_FILES } from '../support/builder-world.ts';
import { answer, startProcess } from '../support/running-process.ts';
import { skipFor } from '../support/skips.ts';

const LACKS = ['/usr/bin/php', '/usr/sbin/php-fpm8.2', '/usr/sbin/nginx'].find((path) => !existsSync(path));
const PAGE = `<?php echo json_encode(array_map(fn ($name) => $_SERVER[$name] ?? null,
  ['SERVER_NAME', 'SERVER_PORT', 'REQUEST_SCHEME', 'HTTPS', 'REMOTE_ADDR']));`;

it(
  'PHP is given the address that visitors asked for, of which apps make whole addresses, and theirs',
  skipFor(LACKS !== undefined && `${LACKS} is not installed`),
  async () => {
    const root = await mkdtemp(join(tmpdir(), 'php-'));
    onTestFinished(() => rm(root, { recursive: true, force: true }));
    await writeFile(join(root, 'index.php'), PAGE);
    const server = await startProcess({
      command: `exec php "${join(PLATFORM_FILES, 'php/server.php')}"`,
      cwd: root,
      manifest: { path: [], env: {} },
      env: { TMPDIR: root },
    });
    onTestFinished(() => server.stop());
    await answer(server);
    const seen = async (headers: Record<string, string>): Promise<unknown> =>
      (await fetch(server.url, { headers })).json();
    const port = new URL(server.url).port;
    expect(await seen({})).toEqual(['127.0.0.1', port, 'http', null, '127.0.0.1']);
    const plain = { 'X-Forwarded-Proto': 'http', 'X-Forwarded-Port': '8000', 'X-Forwarded-For': '192.0.2.7' };
    expect(await seen(plain)).toEqual(['127.0.0.1', '8000', 'http', null, '192.0.2.7']);
    const secure = {
      'X-Forwarded-Proto': 'https',
      'X-Forwarded-Port': '443',
      'X-Forwarded-For': '2001:db8::7, 10.0.0.1',
    };
    expect(await seen(secure)).toEqual(['127.0.0.1', '443', 'https', 'on', '2001:db8::7']);
  },
);
