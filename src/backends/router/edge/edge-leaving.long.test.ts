/** An edge that is to end, as clients and balancers meet it. */
import { get } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../../../test/support/until.ts';
import type { AdoptingRouter } from './edge-router.ts';
import { EdgeWorld } from './edge-world.ts';

/** Longer than any of this takes: nobody waits for it. */
const LONG_MS = 600_000;

let world: EdgeWorld;
beforeEach(() => {
  world = new EdgeWorld();
});
afterEach(() => world.dispose());

/** Over a connection of its own; status and whether it is closed, or why there was none. */
function ask(router: AdoptingRouter, path: string, host: string): Promise<string> {
  return new Promise((resolve) => {
    get(`http://${router.listen}${path}`, { headers: { host, connection: 'keep-alive' }, agent: false }, (answer) => {
      answer
        .resume()
        .on('end', () => resolve(`${answer.statusCode} ${answer.headers.connection === 'close' ? 'closed' : 'kept'}`));
    }).on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}

describe.each([1, 2])('an edge of %s worker(s) that leaves', (workers) => {
  it('says that it does, and answers whoever comes, for half of its time', async () => {
    const router = await world.start(await world.home({ workers }));
    await router.apply(await world.unit('one'));
    expect(await ask(router, '/healthcheck', '10.0.0.1')).toBe('200 kept');
    expect(await ask(router, '/', 'blog.test')).toBe('200 kept');
    const left = router.leave(LONG_MS).catch(() => undefined);
    await until(async () => (await ask(router, '/healthcheck', '10.0.0.1')) === '503 closed', {
      what: 'the health check to fail',
    });
    for (let n = 0; n < 10; n++) expect(await ask(router, '/', 'blog.test')).toBe('200 closed');
    await router.stop();
    await left;
  });

  it('takes nobody any more when its time is over', async () => {
    const router = await world.start(await world.home({ workers }));
    await router.apply(await world.unit('one'));
    await router.leave(20);
    expect(await ask(router, '/', 'blog.test')).toBe('ECONNREFUSED');
  });
});
