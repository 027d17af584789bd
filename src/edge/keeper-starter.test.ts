import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { KeeperStarter } from './keeper-starter.ts';
import { EdgeLog } from './edge-log.ts';

let directory: string;
let starter: KeeperStarter | null = null;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tancho-keeper-starter-'));
});
afterEach(async () => {
  starter?.close();
  await rm(directory, { recursive: true });
});

/** A keeper that notes that it was there, and ends. */
async function starterWith(isControlThere: () => Promise<boolean>): Promise<() => Promise<boolean>> {
  const program = join(directory, 'keeper.mjs');
  await writeFile(
    program,
    `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(join(directory, 'was-there'))}, '');`,
  );
  starter = new KeeperStarter([program], isControlThere, new EdgeLog());
  return () =>
    readFile(join(directory, 'was-there')).then(
      () => true,
      () => false,
    );
}

it('starts the keeper when nobody is connected and control has gone', async () => {
  const wasThere = await starterWith(() => Promise.resolve(false));
  starter?.connected(false);
  await expect.poll(wasThere).toBe(true);
});

it('starts none beside a control that is alive and only late, and one as soon as that has gone', async () => {
  let isThere = true;
  let looks = 0;
  const wasThere = await starterWith(() => {
    looks += 1;
    return Promise.resolve(isThere);
  });
  starter?.connected(false);
  await expect.poll(() => looks).toBeGreaterThanOrEqual(2);
  expect(await wasThere()).toBe(false);
  isThere = false;
  await expect.poll(wasThere).toBe(true);
});

it('starts none when somebody connects while it looks for control', async () => {
  let found: (isThere: boolean) => void = () => {};
  const wasThere = await starterWith(() => new Promise((resolve) => (found = resolve)));
  const looking = found;
  starter?.connected(false);
  await expect.poll(() => found !== looking).toBe(true);
  starter?.connected(true);
  found(false);
  await new Promise((resolve) => setImmediate(resolve));
  expect(await wasThere()).toBe(false);
});
