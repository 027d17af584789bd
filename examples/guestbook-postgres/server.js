import { createServer } from 'node:http';
import pg from 'pg';

// Given by the binding; without one there is nothing to write into.
const url = process.env.DATABASE_URL;
const pool = url === undefined ? null : new pg.Pool({ connectionString: url, max: 5, connectionTimeoutMillis: 5_000 });
pool?.on('error', (error) => console.error(`database: ${error.message}`));

const TABLE = `CREATE TABLE IF NOT EXISTS entries (
  id bigserial PRIMARY KEY, name text NOT NULL, written_at timestamptz NOT NULL DEFAULT now())`;
const MOST_BYTES = 1_000;
let ready;

/** Once per unit; two units that start together may both find no table. */
async function prepare() {
  const client = await pool.connect();
  try {
    await client.query('SELECT pg_advisory_lock(1)');
    await client.query(TABLE);
  } finally {
    await client.query('SELECT pg_advisory_unlock(1)').catch(() => undefined);
    client.release();
  }
}

async function bodyOf(request) {
  let text = '';
  for await (const chunk of request) {
    text += chunk;
    if (text.length > MOST_BYTES) throw new RangeError('too long');
  }
  return text.trim();
}

async function answer(request) {
  if (request.url === '/health') return [200, 'ok\n'];
  if (pool === null) return [503, 'No database is bound to this app.\n'];
  ready ??= prepare().catch((error) => {
    ready = undefined;
    throw error;
  });
  await ready;
  if (request.method === 'POST') {
    const name = await bodyOf(request);
    if (name === '') return [400, 'Send a name.\n'];
    await pool.query('INSERT INTO entries (name) VALUES ($1)', [name]);
    return [201, `Thank you, ${name}.\n`];
  }
  const { rows } = await pool.query('SELECT name FROM entries ORDER BY id DESC LIMIT 100');
  return [200, rows.map((row) => `${row.name}\n`).join('')];
}

const server = createServer((request, response) => {
  answer(request)
    .catch((error) => {
      if (error instanceof RangeError) return [413, 'That is too long.\n'];
      console.error(error.message);
      return [500, 'The guest book cannot be opened.\n'];
    })
    .then(([status, text]) => {
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' });
      response.end(text);
    });
}).listen(process.env.PORT ?? 8080, '0.0.0.0', () => console.log(`listening on port ${server.address().port}`));

process.on('SIGTERM', () => {
  server.close(() => pool?.end().finally(() => process.exit(0)) ?? process.exit(0));
  server.closeIdleConnections();
});
