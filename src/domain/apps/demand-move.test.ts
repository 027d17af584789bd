import { expect, it } from 'vitest';
import { app, release, variable } from '../../backends/store/testing/records.ts';
import { demandMove } from './demand-move.ts';

const HERE = { controls: 'one', images: true, volumes: 'anywhere' };
const ELSEWHERE = { ...HERE, controls: 'several' };
const TO = { engine: 'prod', options: {} };

/** Of an app that is bound to an instance, from this machine's engine to another one of these abilities. */
function moved(value: string, supports: object = ELSEWHERE): Promise<void> {
  const engines = {
    at: (placement: unknown) => (placement === null ? { name: 'process', supports: HERE } : { name: 'prod', supports }),
  };
  const env = [variable('DATABASE_URL', value, { managedBy: 'shop-db' }), variable('OWN', 'http://localhost:1')];
  return demandMove(
    { store: { apps: async () => [] }, engines: engines as never },
    { app: app('shop'), serving: release('shop', 1, { env, mounts: [], image: '', placement: null }), to: TO },
  );
}

it.each(['postgres://u:p@127.0.0.1:5432/shop', 'redis://localhost', 'amqp://127.1.2.3:99'])(
  'an app stays on this machine while its service is there only: %s',
  async (url) => {
    await expect(moved(url)).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('instance shop-db') as string,
      hint: expect.stringContaining('tancho instance unbind shop-db -a shop.') as string,
    });
  },
);

it('an app whose service other machines reach moves, and so does one that stays on the machine', async () => {
  await moved('postgres://u:p@db.example.com/shop');
  await moved('postgres://u:p@localhost/shop', HERE);
});
