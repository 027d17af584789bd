/** What visitors meet after a deploy: real answers of a real server, and what is said of them. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { lookAtPage } from '../../src/domain/pages/page.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';

type Answers = Readonly<Record<string, (answer: ServerResponse, host: string) => unknown>>;

const worlds: DomainWorld[] = [];
const servers: Server[] = [];
afterEach(async () => {
  await Promise.all(worlds.splice(0).map((world) => world.dispose()));
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** An app whose units answer so, by path. */
async function appThat(answers: Answers): Promise<DomainWorld> {
  const server = createServer(({ url = '', headers }, answer) => {
    const found = answers[url];
    if (found === undefined) answer.writeHead(404, { 'content-type': 'text/html' }).end('none');
    else found(answer, headers.host ?? '');
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const world = await startDomain();
  worlds.push(world);
  const { probe } = world.machine;
  const ask = probe.request;
  const router = world.machine.router.listen;
  // The answers of a unit are this server's; the router is asked as ever.
  probe.request = (request) => ask(request.to === router ? request : { ...request, to: `127.0.0.1:${port}` });
  await world.createApp('shop');
  return world;
}

async function reported(answers: Answers): Promise<{ readonly said: string; readonly warning: string }> {
  const world = await appThat(answers);
  const lines: string[] = [];
  const { id } = await world.deploy('shop', {}, { say: (line) => lines.push(line) });
  const said = lines.slice(lines.findIndex((line) => line.startsWith('-----> Release'))).join('\n');
  return { said, warning: (await world.machine.store.deploy(id))?.warning ?? '' };
}

const page =
  (html: string): Answers[string] =>
  (answer) =>
    answer.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(html);
const status =
  (code: number, text = '', headers: Readonly<Record<string, string>> = {}): Answers[string] =>
  (answer) =>
    answer.writeHead(code, headers).end(text);
const file =
  (type: string): Answers[string] =>
  (answer) =>
    answer.writeHead(200, { 'content-type': type }).end('x');

const DJANGO = '<!doctype html><html><body><h1>Bad Request (400)</h1><p></p></body></html>';
const VITE =
  'Blocked request. This host ("shop.apps.test") is not allowed.\nTo allow this host, add it to `preview.allowedHosts`.';
const APP_PAGE = '<!doctype html><link rel="stylesheet" href="/app.css"><script type="module" src="/app.js"></script>';

describe('a push is warned', () => {
  it.for<readonly [string, Answers, RegExp, RegExp]>([
    ['of a page that fails', { '/': status(500, 'oh') }, /for \/ the app answers 500\./, /tancho app log shop/],
    [
      'of an app that does not take its own name',
      { '/': (answer, host) => answer.writeHead(host === 'shop.apps.test' ? 400 : 200).end(DJANGO) },
      /answers 400 to its own address: Django takes only/,
      /Add 'shop\.apps\.test' to ALLOWED_HOSTS/,
    ],
    ['of a preview that does not', { '/': status(403, VITE) }, /answers 403 to its own/, /preview\.allowedHosts/],
    ['of a development server that does not', { '/': status(403, 'Invalid Host header') }, /403/, /devServer/],
    [
      'of Rails that does not',
      { '/': status(403, '<h1>Blocked hosts: shop.apps.test</h1>') },
      /403/,
      /config\.hosts <</,
    ],
    ['of an empty page', { '/': page(' \n') }, /answers with an empty page/, /tancho app log/],
    [
      'of a script that is nowhere',
      { '/': page(APP_PAGE), '/app.css': file('text/css') },
      /Its page names \/app\.js, which the app answers with 404/,
      /curl -i http:\/\/shop\.apps\.test\/app\.js/,
    ],
    [
      'of a page in place of a style',
      { '/': page(APP_PAGE), '/app.css': page('<p>not found'), '/app.js': file('text/javascript') },
      /names \/app\.css, which the app answers with a page of HTML/,
      /curl/,
    ],
    [
      'of what a redirect leads to',
      { '/': status(302, '', { location: '/in?a=1' }), '/in?a=1': status(503) },
      /for \/in the app answers 503/,
      /log/,
    ],
    ['of a connection that is cut', { '/': (answer) => answer.destroy() }, /closed the connection/, /log/],
    ['of no answer', { '/': () => {} }, /given no answer within 2 seconds/, /log/],
  ])('%s', async ([, answers, text, hint]) => {
    const { said, warning } = await reported(answers);
    expect(warning).toMatch(text);
    expect(said).toContain('-----> Release 1 serves at http://shop.apps.test');
    expect(said).toContain(` !     ${warning}`);
    expect(said).toMatch(hint);
  });
});

describe('a push is not warned', () => {
  it.for<readonly [string, Answers]>([
    ['of an API without a page', {}],
    ['of a login', { '/': status(401) }],
    ['of who may not enter', { '/': status(403, 'no') }],
    ['of an answer without content', { '/': status(204) }],
    ['of an empty answer that is no page', { '/': file('text/plain') }],
    ['of another host', { '/': status(302, '', { location: 'http://login.example.com/' }) }],
    ['of a redirect to itself', { '/': status(302, '', { location: '/' }) }],
    ['of HTTPS', { '/': status(301, '', { location: 'https://shop.apps.test/' }) }],
    [
      'of a page with all it names',
      { '/': page(APP_PAGE), '/app.js': file('text/javascript'), '/app.css': file('text/css') },
    ],
    ['of what other hosts have', { '/': page('<script src="https://cdn.example.com/a.js"></script>') }],
    ['of what is commented out', { '/': page('<p>x<!-- <script src="/old.js"></script> -->') }],
    [
      'of a stream that never ends',
      { '/': (answer) => answer.writeHead(200, { 'content-type': 'text/event-stream' }).write('a') },
    ],
  ])('%s', async ([, answers]) => {
    const { said, warning } = await reported(answers);
    expect(warning).toBe('');
    expect(said).toBe('-----> Release 1 answers at http://shop.apps.test');
  });
});

it('that demands HTTPS where there is none is named', async () => {
  const to = (host: string) => status(301, '', { location: `https://${host}/` });
  const look = async (host: string, domain: string, https: boolean) => {
    const world = await appThat({ '/': to(host) });
    await world.deploy('shop');
    const { store, probe } = world.machine;
    const settings = { domain, edgePort: () => 80, tlsPort: () => (https ? 443 : null), presents: () => https };
    return lookAtPage({ store, probe, settings }, (await store.app('shop')) ?? expect.fail());
  };
  expect((await look('shop.localhost', 'localhost', false))?.text).toMatch(/to https:\/\/shop\.localhost\/, and there/);
  expect(await look('shop.localhost', 'localhost', true)).toBeNull();
  expect(await look('login.localhost', 'localhost', false)).toBeNull();
});

it('is asked as a visitor asks: by its own name, with what its address begins with', async () => {
  const hosts: string[] = [];
  await reported({ '/': (answer, host) => hosts.push(host) && answer.end('hello') });
  expect(hosts).toEqual(['shop.apps.test']);
});

it('is what "why" names where all else holds', async () => {
  const world = await appThat({ '/': status(400, DJANGO) });
  await world.deploy('shop');
  const { well, broken } = await world.useCases.diagnoses.ofApp(ANN, 'shop');
  expect(well).toBe(false);
  expect(broken).toMatchObject({ link: 'answer', cause: expect.stringContaining('ALLOWED_HOSTS') });
});

it('is a note of "why" where nothing else is wrong', async () => {
  const world = await appThat({ '/': page(APP_PAGE), '/app.css': file('text/css') });
  await world.deploy('shop');
  const { well, notes } = await world.useCases.diagnoses.ofApp(ANN, 'shop');
  expect(well).toBe(true);
  expect(notes.join('\n')).toMatch(/names \/app\.js/);
});
