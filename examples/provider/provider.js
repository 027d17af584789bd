// A whole service provider in plain Node. It hands out tokens; what each call means: docs/providers.md.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';

const { USERNAME = 'tokens', PASSWORD = '', FILE = 'tokens.json', PORT = '8440' } = process.env;
if (PASSWORD === '') throw new Error('Set PASSWORD.');
const digest = (text) => createHash('sha256').update(text).digest();
const wanted = digest(`Basic ${Buffer.from(`${USERNAME}:${PASSWORD}`).toString('base64')}`);

const state = existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : { instances: [], undone: [] };
function save() {
  writeFileSync(`${FILE}.new`, JSON.stringify(state), { mode: 0o600 });
  renameSync(`${FILE}.new`, FILE); // a crash leaves the old state or the new one, never half of it
}

function answer(call, name, form, key, id) {
  const instance = state.instances.find((one) => one.name === name);
  if (call === 'POST resources') {
    if (!/^[^/\p{Cc}]{1,200}$/u.test(name) || ['plans', '.', '..'].includes(name)) return [400, 'No such name.'];
    if (!['', 'free'].includes(form.get('plan') ?? '')) return [400, 'There is no such plan.'];
    if (instance !== undefined) return key && instance.key === key ? [201] : [409, 'There is one already.'];
    if (state.undone.includes(key)) return [409, 'This was made and removed since.'];
    state.instances.push({ name, key, tokens: {} });
    return [201, undefined, save()];
  }
  if (instance === undefined) return [404, 'There is no such instance.'];
  const app = form.get('app-host') ?? '';
  if (call === 'GET') return [200, [{ label: 'Bound apps', value: Object.keys(instance.tokens).join(', ') }]];
  if (call === 'GET status') return [204];
  if (call.endsWith(' bind')) return [200]; // single units are of no interest here
  const bound = instance.tokens[app];
  if (call === 'POST bind-app') instance.tokens[app] = { token: randomBytes(24).toString('hex'), ...bound, id };
  else if (call === 'DELETE bind-app') {
    if (id === undefined || bound?.id === id) delete instance.tokens[app]; // not what came after it
  } else if (call === 'DELETE') {
    state.instances = state.instances.filter((one) => one !== instance);
    state.undone = [...state.undone, instance.key].slice(-1000);
  } else return [405, 'Not with this method.'];
  return [200, call === 'POST bind-app' ? { TOKEN: instance.tokens[app].token } : undefined, save()];
}

async function handle(request) {
  const [path, query = ''] = request.url.split('?');
  let body = '';
  for await (const chunk of request) body += body.length < 65_536 ? chunk : '';
  if (!timingSafeEqual(digest(request.headers.authorization ?? ''), wanted)) return [401, 'Name and password, please.'];
  const [, root, segment, below] = path.split('/');
  if (root !== 'resources') return [404, 'There is nothing here.'];
  if (path === '/resources/plans') return [200, [{ name: 'free', description: 'As many as you like' }]];
  const form = new URLSearchParams(`${body}&${query}`);
  const name = segment === undefined ? form.get('name') : decodeURIComponent(segment);
  const call = segment === undefined ? `${request.method} resources` : [request.method, below].join(' ').trim();
  const { 'idempotency-key': key, 'x-tancho-binding-id': id } = request.headers;
  return answer(call, name ?? '', form, key, id);
}

createServer(async (request, response) => {
  const [status, body] = await handle(request).catch((error) => [error instanceof URIError ? 400 : 500, error.message]);
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(body === undefined ? '' : JSON.stringify(body));
}).listen(Number(PORT), '127.0.0.1', function () {
  console.log(`listening on http://127.0.0.1:${this.address().port}`);
});
