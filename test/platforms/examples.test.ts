/** Every example app is really built and run. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builderWorld, SHIPPED_PLATFORMS } from '../support/builder-world.ts';
import type { BuilderWorld } from '../support/builder-world.ts';
import { answer, startProcess } from '../support/running-process.ts';
import type { RunningProcess } from '../support/running-process.ts';
import { treeFrom } from '../support/source-trees.ts';

const run = promisify(execFile);
const EXAMPLES = new URL('../../examples', import.meta.url).pathname;
// Go compiles its whole standard library for the first app of a machine, which takes a minute or so of two cores.
const slowToo = process.env['TANCHO_TEST_SLOW'] === '1';
const [npmRegistry, pythonRegistry, go] = await Promise.all([
  works('npm', ['ping', '--fetch-retries=0', '--fetch-timeout=5000']),
  works('python3', ['-m', 'pip', 'index', 'versions', 'click', '--retries', '0', '--timeout', '5']),
  works('go', ['version']),
]);
for (const [runs, what] of [
  [npmRegistry, 'node-express: the npm registry cannot be reached'],
  [pythonRegistry, 'python-flask: the Python package index cannot be reached'],
  [go, 'go-hello: go is not installed'],
  [!go || slowToo, 'go-hello: it takes minutes; set TANCHO_TEST_SLOW=1 to run it'],
] as const) {
  if (!runs) console.log(`skipped: example ${what}`);
}

let world: BuilderWorld;
beforeAll(async () => {
  world = await builderWorld(SHIPPED_PLATFORMS, { more: { buildTimeoutMs: 280_000 } });
});
afterAll(() => world.dispose());

async function works(program: string, args: string[]): Promise<boolean> {
  return run(program, args, { timeout: 15_000 }).then(
    () => true,
    () => false,
  );
}

/** Builds the example and runs one of its process types while `use` looks at it. */
async function withExample(
  name: string,
  platform: string,
  use: (running: RunningProcess) => Promise<void>,
  process = 'web',
  env: Record<string, string> = {},
): Promise<void> {
  const artifact = await world.build({ app: name, platform, source: treeFrom(join(EXAMPLES, name)) });
  const command = artifact.processes[process];
  expect(command).toBeDefined();
  const running = await startProcess({
    command: command ?? '',
    cwd: world.code(artifact),
    manifest: await world.manifest(artifact),
    env: { TANCHO_UNIT: `${name}/0`, ...env },
  });
  try {
    await use(running);
  } finally {
    await running.stop();
  }
}

describe('examples', () => {
  it('hello-node says which app and unit answers', async () => {
    await withExample('hello-node', 'nodejs', async (running) => {
      expect(await (await answer(running, '/health')).text()).toBe('ok\n');
      const page = await (await answer(running)).text();
      expect(page).toContain('Hello from hello-node');
      expect(page).toContain('hello-node/0');
      expect(running.output()).toContain('GET /');
    });
    expect(world.sandbox.requests.filter((request) => request.tenant === 'hello-node')).toEqual([]);
  });

  it('static-site serves its pages', async () => {
    await withExample('static-site', 'static', async (running) => {
      const page = await answer(running);
      expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      expect((await answer(running, '/style.css')).headers.get('content-type')).toBe('text/css; charset=utf-8');
      const lost = await answer(running, '/nowhere');
      expect([lost.status, await lost.text()]).toEqual([404, expect.stringContaining('Not found')]);
    });
  });

  it('worker answers and works', async () => {
    await withExample('worker', 'nodejs', async (running) => {
      expect(await (await answer(running)).json()).toMatchObject({ process: 'web', unit: 'worker/0' });
    });
    const working = async (running: RunningProcess): Promise<void> => {
      await expect.poll(() => running.output(), { timeout: 10_000 }).toContain('finished job 2');
    };
    await withExample('worker', 'nodejs', working, 'worker', { WORK_EVERY_MS: '10' });
  });

  it.skipIf(!npmRegistry)('node-express installs its packages once', { timeout: 120_000 }, async () => {
    const healthy = async (running: RunningProcess): Promise<void> => {
      expect(await (await answer(running)).json()).toEqual({ hello: 'from Express', unit: 'node-express/0' });
    };
    await withExample('node-express', 'nodejs', healthy);
    expect(world.lines).toContain('npm ci');
    await withExample('node-express', 'nodejs', healthy);
    expect(world.lines.join('\n')).toMatch(/npm packages: unchanged/);
  });

  it.skipIf(!pythonRegistry)('python-flask installs its packages once', { timeout: 120_000 }, async () => {
    const healthy = async (running: RunningProcess): Promise<void> => {
      expect(await (await answer(running)).json()).toEqual({ hello: 'from Flask', unit: 'python-flask/0' });
    };
    await withExample('python-flask', 'python', healthy);
    await withExample('python-flask', 'python', healthy);
    expect(world.lines).toContain('Python packages: unchanged');
  });

  it.skipIf(!go || !slowToo)('go-hello is compiled and runs', { timeout: 280_000 }, async () => {
    await withExample('go-hello', 'go', async (running) => {
      expect(await (await answer(running)).text()).toMatch(/^Hello from go/);
    });
  });
});
