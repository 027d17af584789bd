/**
 * Serves a directory of files over HTTP. Depends on nothing but Node.
 * PORT: where to listen. STATIC_ROOT: the directory, `.` by default. STATIC_FALLBACK: a file below it that answers
 * every unknown path without an extension (single-page applications); none by default.
 */
import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, resolve, sep } from 'node:path';
import { pipeline } from 'node:stream';

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.htm': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.csv': 'text/csv; charset=utf-8',
  '.xml': 'application/xml; charset=utf-8',
  '.rss': 'application/rss+xml; charset=utf-8',
  '.atom': 'application/atom+xml; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.avif': 'image/avif',
  '.ico': 'image/x-icon',
  '.woff': 'font/woff',
  '.woff2': 'font/woff2',
  '.ttf': 'font/ttf',
  '.otf': 'font/otf',
  '.wasm': 'application/wasm',
  '.pdf': 'application/pdf',
  '.zip': 'application/zip',
  '.mp3': 'audio/mpeg',
  '.ogg': 'audio/ogg',
  '.wav': 'audio/wav',
  '.mp4': 'video/mp4',
  '.webm': 'video/webm',
};
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
];

const root = await realpath(resolve(process.env.STATIC_ROOT || '.'));
const fallback = process.env.STATIC_FALLBACK || '';

/** The file names a request path stands for; null for a path that is malformed, hidden or leaves the root. */
function namesOf(url) {
  let path;
  try {
    path = decodeURIComponent(url.split(/[?#]/, 1)[0]);
  } catch {
    return null;
  }
  const parts = path.split('/').filter((part) => part !== '');
  if (path.includes('\0') || path.includes('\\')) return null;
  // Dot files are never served, except what is published under .well-known.
  if (parts.some((part, index) => part.startsWith('.') && !(index === 0 && part === '.well-known'))) return null;
  return { path: parts.join('/'), directory: path.endsWith('/') || parts.length === 0 };
}

/** An open regular file below the root, or null. Links may point anywhere below the root, not out of it. */
async function openFile(name) {
  let real;
  try {
    real = await realpath(join(root, name));
  } catch {
    return null;
  }
  if (real !== root && !real.startsWith(root === sep ? root : root + sep)) return null;
  const file = await open(real, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => null);
  if (file === null) return null;
  const stats = await file.stat().catch(() => null);
  if (stats?.isFile()) return { file, stats, name };
  await file.close();
  return stats?.isDirectory() ? { directory: true } : null;
}

async function find({ path, directory }) {
  const asked = directory ? null : await openFile(path);
  if (asked?.file) return { found: asked, status: 200 };
  const index = await openFile(path === '' ? 'index.html' : `${path}/index.html`);
  if (index?.file) {
    if (directory) return { found: index, status: 200 };
    await index.file.close();
    return { redirect: true };
  }
  const page = directory || extname(path) !== '' ? null : await openFile(`${path}.html`);
  if (page?.file) return { found: page, status: 200 };
  if (fallback !== '' && extname(path) === '') {
    const spa = await openFile(fallback);
    if (spa?.file) return { found: spa, status: 200 };
  }
  const missing = await openFile('404.html');
  return { found: missing?.file ? missing : null, status: 404 };
}

/** A compressed twin (`app.js.br`, `app.js.gz`) that the client accepts, or null. */
async function compressed(request, name) {
  const accepted = new Map(
    String(request.headers['accept-encoding'] ?? '')
      .split(',')
      .map((part) => part.trim().split(/\s*;\s*q\s*=\s*/i))
      .map(([coding, weight]) => [coding.toLowerCase(), Number(weight ?? 1)]),
  );
  for (const [coding, suffix] of ENCODINGS) {
    if (!(accepted.get(coding) > 0)) continue;
    const twin = await openFile(name + suffix);
    if (twin?.file) return { ...twin, coding };
  }
  return null;
}

/** [first, last] of a single satisfiable range, 'unsatisfiable', or null when the whole file is to be sent. */
function rangeOf(header, size) {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  if (match === null || (match[1] === '' && match[2] === '')) return null;
  const first = match[1] === '' ? Math.max(0, size - Number(match[2])) : Number(match[1]);
  const last = match[1] === '' || match[2] === '' ? size - 1 : Math.min(Number(match[2]), size - 1);
  if (match[1] !== '' && match[2] !== '' && Number(match[2]) < Number(match[1])) return null;
  return first >= size || first > last ? 'unsatisfiable' : [first, last];
}

function isFresh(request, etag, modified) {
  const match = request.headers['if-none-match'];
  if (match !== undefined) {
    return match.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag);
  }
  const since = Date.parse(request.headers['if-modified-since'] ?? '');
  return !Number.isNaN(since) && Math.floor(modified / 1000) * 1000 <= since;
}

function mayRange(request, etag, modified) {
  const condition = request.headers['if-range'];
  if (condition === undefined) return true;
  return condition.startsWith('"') ? condition === etag : Math.floor(modified / 1000) * 1000 === Date.parse(condition);
}

function plain(response, status, text, headers = {}) {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...headers });
  response.end(response.req.method === 'HEAD' ? undefined : `${text}\n`);
}

async function send(request, response, original, status) {
  const twin = await compressed(request, original.name);
  const { file, stats } = twin ?? original;
  if (twin !== null) await original.file.close();
  const etag = `"${stats.size.toString(16)}-${Math.floor(stats.mtimeMs).toString(16)}${twin === null ? '' : `-${twin.coding}`}"`;
  const headers = {
    'content-type': TYPES[extname(original.name).toLowerCase()] ?? 'application/octet-stream',
    'last-modified': stats.mtime.toUTCString(),
    etag,
    'accept-ranges': 'bytes',
    'cache-control': 'no-cache',
    vary: 'accept-encoding',
    'x-content-type-options': 'nosniff',
  };
  if (twin !== null) headers['content-encoding'] = twin.coding;
  if (status === 200 && isFresh(request, etag, stats.mtimeMs)) {
    await file.close();
    response.writeHead(304, headers);
    return response.end();
  }
  const range =
    status === 200 && mayRange(request, etag, stats.mtimeMs) ? rangeOf(request.headers.range, stats.size) : null;
  if (range === 'unsatisfiable') {
    await file.close();
    return plain(response, 416, 'Range not satisfiable', { 'content-range': `bytes */${stats.size}` });
  }
  const [first, last] = range ?? [0, stats.size - 1];
  if (range !== null) headers['content-range'] = `bytes ${first}-${last}/${stats.size}`;
  headers['content-length'] = last - first + 1;
  response.writeHead(range === null ? status : 206, headers);
  if (request.method === 'HEAD' || stats.size === 0) {
    await file.close();
    return response.end();
  }
  // The stream closes the file. A client that went away in the middle is no error of ours.
  return pipeline(file.createReadStream({ start: first, end: last }), response, () => {});
}

async function answer(request, response) {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return plain(response, 405, 'Only GET and HEAD', { allow: 'GET, HEAD' });
  }
  const names = namesOf(request.url);
  if (names === null) return plain(response, 404, 'Not found');
  const { found, status, redirect } = await find(names);
  if (redirect) {
    const [, query = ''] = /(\?.*)?$/.exec(request.url);
    const location = `/${names.path.split('/').map(encodeURIComponent).join('/')}/${query}`;
    return plain(response, 301, 'Moved', { location });
  }
  if (found === null) return plain(response, 404, 'Not found');
  return send(request, response, found, status);
}

const server = createServer((request, response) => {
  answer(request, response).catch((error) => {
    console.error(`${request.method} ${request.url}:`, error);
    if (response.headersSent) response.destroy();
    else plain(response, 500, 'Internal error');
  });
});
server.listen(Number(process.env.PORT ?? 8080), '0.0.0.0', () => {
  console.log(`serving ${root} on port ${server.address().port}`);
});
process.on('SIGTERM', () => {
  server.close(() => process.exit(0));
  server.closeIdleConnections();
});
