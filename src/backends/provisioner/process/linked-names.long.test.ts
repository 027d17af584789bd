/** Two apps of the process provisioner, one linked to the other: which variables and names its processes get, and that these work. */
import { expect, it } from 'vitest';
import { linkApps } from './linked-names.ts';
import type { LinkedTenant } from '../../../networks/tenant-links.ts';
import { createProcessWorld, openLevel, type ProcessWorld } from './provisioner-world.ts';
import { NEVER, SERVES, UNLIMITED } from '../conformance-suite.ts';
import type { UnitSpec } from '../../../domain/units/provisioner.ts';

const ASK = `node -e 'fetch(process.env.SHOP_API_URL).then((answer) => answer.text()).then((text) => console.log(text))'`;
const TELL = 'echo "[$SHOP_API_URL]"; grep -c internal /etc/hosts; true';

function specOf(world: ProcessWorld, app: string, artifact: string): UnitSpec {
  const { serve: command } = world.commands;
  const unit = { id: `${app}-unit`, app, name: `${app}/0`, process: 'web' };
  return { ...unit, artifact, command, env: {}, listens: true, limits: UNLIMITED };
}

async function said(world: ProcessWorld, unit: UnitSpec, command: string): Promise<string> {
  let text = '';
  const output = (bytes: Uint8Array): void => void (text += Buffer.from(bytes).toString());
  await world.provisioner.exec({ unit, command, output, signal: NEVER, timeoutMs: 180_000 });
  return text.trim();
}

it('processes find a linked app by its name, which other apps do not know', async (test) => {
  const level = await openLevel('bubblewrap');
  if (typeof level === 'string') return test.skip(level);
  const world = await createProcessWorld(level);
  try {
    const { provisioner } = world;
    if (!provisioner.supports.links) return test.skip(provisioner.description);
    for (const artifact of ['slug2', 'slug3']) world.addSlug(artifact);
    const [shop, blog, wiki] = [
      specOf(world, 'shop-api', 'slug1'),
      specOf(world, 'blog', 'slug2'),
      specOf(world, 'wiki', 'slug3'),
    ];
    await provisioner.ensure(shop);
    const address = await provisioner.ready(shop.id, SERVES, NEVER);
    await provisioner.link([
      { app: shop.app, from: [blog.app], targets: [{ unit: shop.id, port: address?.port ?? 0 }] },
    ]);
    expect(await said(world, blog, ASK)).toBe('hello');
    expect(await said(world, blog, TELL)).toBe('[http://shop-api.internal]\n1');
    expect(await said(world, { ...blog, env: { SHOP_API_URL: 'http://mine' } }, TELL)).toContain('[http://mine]');
    expect(await said(world, wiki, TELL)).toBe('[]\n0');
    const next = await world.restart();
    // Its new process has another address, and the link follows by itself.
    await next.stop(shop.id, 0);
    await next.ensure(shop);
    await next.ready(shop.id, SERVES, NEVER);
    expect(await said({ ...world, provisioner: next }, blog, ASK)).toBe('hello');
    await next.link([]);
    expect(await said({ ...world, provisioner: next }, blog, TELL)).toBe('[]\n0');
  } finally {
    await world.dispose();
    await level.dispose();
  }
});

it('who is linked to a unit that is reached by a door comes to its own port', async () => {
  const asked: LinkedTenant[] = [];
  const sandbox = {
    link: async (tenants: readonly LinkedTenant[]): Promise<void> => void asked.push(...tenants),
    behindDoor: (id: string): number | null => (id === 'shop-1' ? 3000 : null),
  };
  const targets = ['shop-1', 'shop-2'].map((unit) => ({ unit, port: 16_004 }));
  await linkApps(sandbox, [{ app: 'shop', from: ['blog'], targets }]);
  expect(asked[0]?.targets).toEqual([
    { id: 'shop-1', port: 3000 },
    { id: 'shop-2', port: 16_004 },
  ]);
});
