/** The example apps that need nothing from elsewhere are really built and run; test/scenarios/platforms.long.test.ts pushes them all. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builderWorld } from '../support/builder-world.ts';
import type { BuilderWorld } from '../support/builder-world.ts';
import { answer, startProcess } from '../support/running-process.ts';
import type { RunningProcess } from '../support/running-process.ts';
import { treeFrom } from '../support/source-trees.ts';

const EXAMPLES = new URL('../../examples', import.meta.url).pathname;

let world: BuilderWorld;
beforeAll(async () => {
  world = await builderWorld();
});
afterAll(() => world.dispose());

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
      await expect.poll(() => running.output()).toContain('GET /');
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
      await expect.poll(() => running.output()).toContain('finished job 2');
    };
    await withExample('worker', 'nodejs', working, 'worker', { WORK_EVERY_MS: '10' });
  });
});
