/** The apps that are pushed. Each start of them answers something else, so it can be seen which start answers. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export type Files = Readonly<Record<string, string>>;

const ID = "const id = 'start ' + require('node:crypto').randomBytes(8).toString('hex');";

export const PLAIN_APP: Files = {
  'package.json': '{ "name": "plain", "version": "1.0.0", "private": true }\n',
  'server.js': `${ID}
const bodies = { '/100': 'x'.repeat(100), '/65536': 'x'.repeat(65536), '/port': process.env.PORT };
require('node:http')
  .createServer((request, response) => {
    const body = bodies[request.url] ?? id + ' ' + (process.env.GREETING ?? '');
    response.writeHead(200, { 'content-type': 'text/plain', 'content-length': Buffer.byteLength(body) }).end(body);
  })
  .listen(process.env.PORT);
`,
};

/** `express` and its packages as they are locked in examples/node-express. */
export async function expressApp(): Promise<Files> {
  const example = (name: string): Promise<string> => readFile(join('examples', 'node-express', name), 'utf8');
  const { dependencies } = JSON.parse(await example('package.json')) as { dependencies: object };
  return {
    'package.json': JSON.stringify({ name: 'node-express', version: '1.0.0', private: true, dependencies }),
    'package-lock.json': await example('package-lock.json'),
    'server.js': `${ID}
const app = require('express')();
app.get('/', (request, response) => response.send(id));
app.listen(process.env.PORT);
`,
  };
}

export function isStart(text: string): boolean {
  return text.startsWith('start ');
}
