/** Every example app goes the way of its README: pushed over SSH into one platform, and answers with its real page; that in Go is in the corpus. */
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { startDeveloper } from '../support/developer.ts';
import { sshUrl, type WorkTree } from '../support/git.ts';
import { until } from '../support/until.ts';

const EXAMPLES = new URL('../../examples', import.meta.url).pathname;
/** What this machine reaches: npm's registry, Python's index. */
const [npm, pip] = await Promise.all([
  works('npm', ['ping', '--fetch-retries=0', '--fetch-timeout=5000']),
  works('python3', ['-m', 'pip', 'index', 'versions', 'click', '--retries', '0', '--timeout', '5']),
]);
const NO_NPM = 'the npm registry cannot be reached';
const NO_PIP = 'there is no Python, or its package index cannot be reached';

const { world, token, createApp, createTree, dispose } = await startDeveloper();
afterAll(dispose);

function works(program: string, args: string[]): Promise<boolean> {
  return promisify(execFile)(program, args).then(
    () => true,
    () => false,
  );
}

async function filesOf(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'));
  const texts = files.map(async (entry): Promise<[string, string]> => {
    const file = path.join(entry.parentPath, entry.name);
    return [path.relative(folder, file), await readFile(file, 'utf8')];
  });
  return Object.fromEntries(await Promise.all(texts));
}

/** Creates the app and pushes; what was printed. */
async function deploy(app: string, platform: string, files: Record<string, string>): Promise<[WorkTree, string]> {
  await createApp(app, platform);
  const work = await createTree(files);
  return [work, await push(work, app)];
}

async function push(work: WorkTree, app: string): Promise<string> {
  const pushed = await work.push(sshUrl(world, app));
  expect(pushed.code, pushed.stderr).toBe(0);
  return pushed.stderr;
}

async function deployExample(name: string, platform: string): Promise<[WorkTree, string]> {
  return deploy(name, platform, await filesOf(path.join(EXAMPLES, name)));
}

async function logged(app: string, source: string, text: string): Promise<void> {
  await until(
    async () =>
      (await world.api('GET', `/apps/${app}/log?lines=100&source=${source}`, { token }))
        .json<{ Message: string }[]>()
        .some(({ Message }) => Message.includes(text)),
    { what: `"${text}" in the log of ${app}` },
  );
}

describe('the example', () => {
  it('hello-node', async () => {
    await deployExample('hello-node', 'nodejs');
    const page = await world.fetchApp('hello-node');
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('Hello from hello-node')]);
    await logged('hello-node', 'web', 'GET /');
  });

  it('static-site, whose platform is what is pushed', async () => {
    const [, pushed] = await deployExample('static-site', 'auto');
    expect(pushed).toContain('The source is taken for static: it has public/index.html');
    const { Platform } = (await world.api('GET', '/apps/static-site', { token })).json<{ Platform: string }>();
    expect(Platform).toBe('static');
    const page = await world.fetchApp('static-site');
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.text).toBe(await readFile(path.join(EXAMPLES, 'static-site', 'public', 'index.html'), 'utf8'));
    expect((await world.fetchApp('static-site', '/style.css')).headers['content-type']).toMatch(/^text\/css/);
    const lost = await world.fetchApp('static-site', '/nowhere');
    expect([lost.status, lost.text]).toEqual([404, expect.stringContaining('Not found')]);
  });

  it('worker runs both its processes, and both are in the log', async () => {
    const body = JSON.stringify({ WORK_EVERY_MS: '200' });
    await createApp('worker', 'nodejs');
    expect((await world.api('POST', '/apps/worker/env', { token, body })).status).toBe(200);
    await push(await createTree(await filesOf(path.join(EXAMPLES, 'worker'))), 'worker');
    expect((await world.fetchApp('worker')).json()).toMatchObject({ process: 'web' });
    const { Units: units } = (await world.api('GET', '/apps/worker', { token })).json<{
      Units: { ProcessName: string; State: string }[];
    }>();
    expect(units.map(({ ProcessName, State }) => `${ProcessName} ${State}`).sort()).toEqual([
      'web started',
      'worker started',
    ]);
    await logged('worker', 'worker', 'finished job');
    await logged('worker', 'web', 'request 1: GET /');
  });

  it('node-express, whose packages are installed once', async (test) => {
    if (!npm) return test.skip(NO_NPM);
    const [work, first] = await deployExample('node-express', 'nodejs');
    expect(first).toMatch(/^remote: +npm ci *$/m);
    expect((await world.fetchApp('node-express')).json()).toMatchObject({ hello: 'from Express' });
    await work.write({ 'note.txt': 'no dependency' });
    await work.commit();
    const second = await push(work, 'node-express');
    expect(second).toMatch(/npm packages: unchanged/);
    expect(second).not.toMatch(/^remote: +npm ci *$/m);
    expect((await world.fetchApp('node-express')).json()).toMatchObject({ hello: 'from Express' });
  });

  it('python-flask, whose packages are installed once', async (test) => {
    if (!pip) return test.skip(NO_PIP);
    const [work] = await deployExample('python-flask', 'python');
    expect((await world.fetchApp('python-flask')).json()).toMatchObject({ hello: 'from Flask' });
    await work.commit();
    expect(await push(work, 'python-flask')).toContain('Python packages: unchanged');
    expect((await world.fetchApp('python-flask')).json()).toMatchObject({ hello: 'from Flask' });
  });
});

describe('an app that asks for another Node', () => {
  it('gets it from the registry, once', async (test) => {
    if (!npm) return test.skip(NO_NPM);
    const [major] = process.versions.node.split('.').map(Number);
    const wanted = major === 18 ? 20 : 18;
    const files = {
      'package.json': JSON.stringify({ name: 'older', private: true, engines: { node: `${wanted}.x` } }),
      'server.js':
        'require("node:http").createServer((req, res) => res.end(process.version)).listen(process.env.PORT);\n',
    };
    const [work, first] = await deploy('older', 'nodejs', files);
    expect((await world.fetchApp('older')).text).toMatch(new RegExp(`^v${wanted}\\.`));
    await work.commit();
    expect(first).toContain('preparing node');
    expect(await push(work, 'older')).not.toContain('preparing node');
    expect((await world.fetchApp('older')).text).toMatch(new RegExp(`^v${wanted}\\.`));
  });
});
