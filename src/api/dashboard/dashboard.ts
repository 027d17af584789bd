/** Serves the files of the dashboard. All of this is loaded when somebody opens it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commonHeaders } from '../answer-headers.ts';
import { Compressed, encodingFor } from './compressed.ts';
import { type DashboardFiles, findFiles } from './files.ts';
import { page, PAGE_HEADERS, policyOf } from './page.ts';

const DIST = fileURLToPath(new URL('../..', import.meta.url));
let found: Promise<DashboardFiles> | null = null;
const compressed = new Compressed();
const HASHED = 'public, max-age=31536000, immutable';

/** Once; what could not be read is read again for the next who asks. */
function files(): Promise<DashboardFiles> {
  found ??= findFiles(join(DIST, 'dashboard'), resolve(DIST, '../node_modules')).catch((error: unknown) => {
    found = null;
    throw error;
  });
  return found;
}

export async function serveDashboard(request: IncomingMessage, response: ServerResponse, id: string): Promise<void> {
  const common = commonHeaders(id);
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.writeHead(405, { ...common, allow: 'GET, HEAD' }).end();
    return;
  }
  const known = await files();
  const path = (request.url ?? '').split('?', 1)[0] ?? '';
  const isFile = path.startsWith('/dashboard/files/');
  const answer = isFile ? await fileAnswer(known, path) : pageAnswer(known);
  if (answer === null) {
    response.writeHead(404, { ...common, 'content-type': 'text/plain; charset=utf-8' }).end('There is no such file.\n');
    return;
  }
  const encoding = encodingFor(request.headers['accept-encoding']);
  const bytes = await compressed.of(answer.key, answer.bytes, encoding);
  response.writeHead(200, {
    ...common,
    ...answer.headers,
    vary: 'accept-encoding',
    'content-length': bytes.length,
    ...(encoding !== '' && { 'content-encoding': encoding }),
  });
  response.end(request.method === 'HEAD' ? undefined : bytes);
}

interface PageAnswer {
  /** Of the bytes: another build is another process. */
  readonly key: string;
  readonly bytes: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

async function fileAnswer(known: DashboardFiles, path: string): Promise<PageAnswer | null> {
  const [hash = '', ...rest] = path.slice('/dashboard/files/'.length).split('/');
  const name = rest.join('/');
  // Files of another build beside those of this one would be two programs at once: the page says how to go on.
  const bytes = hash === known.hash ? await known.read(name) : null;
  if (bytes === null) return null;
  const type = name.endsWith('.css') ? 'text/css' : name.endsWith('.svg') ? 'image/svg+xml' : 'text/javascript';
  const headers = {
    'content-type': `${type}; charset=utf-8`,
    'cache-control': HASHED,
    'cross-origin-resource-policy': 'same-origin',
  };
  return { key: name, bytes, headers };
}

function pageAnswer(known: DashboardFiles): PageAnswer {
  const html = page(known);
  return {
    key: '',
    bytes: Buffer.from(html.text),
    headers: { ...PAGE_HEADERS, 'content-security-policy': policyOf(html.scriptHash) },
  };
}
