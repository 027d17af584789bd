/** A diagnosis names addresses that work when they are opened. */
import { afterEach, expect, it } from 'vitest';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';

let world: DomainWorld | null = null;
afterEach(async () => {
  await world?.dispose();
  world = null;
});

it('names addresses as visitors have them, with the port', async () => {
  world = await startDomain({ edgePort: () => 8_000 });
  await world.createApp('shop');
  await world.deploy('shop', { healthCheck: { path: '/broken', status: 500 } });
  await world.useCases.cnames.add(ANN, 'shop', ['www.example.com']);
  const { diagnoses } = world.useCases;
  const { url, broken } = await diagnoses.ofApp(ANN, 'shop');
  expect(url).toBe('http://shop.apps.test:8000');
  expect(broken?.cause).toContain('A request for http://shop.apps.test:8000/broken got');
  expect((await diagnoses.ofAddress(ANN, 'www.example.com')).url).toBe('http://www.example.com:8000');
});
