/** What happens reaches the webhooks that it concerns, whatever ends in between, and nobody else. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { UserCaller } from '../../src/domain/caller.ts';
import type { Delivery } from '../../src/domain/webhooks/delivery.ts';
import type { Webhook, WebhookScope } from '../../src/domain/webhooks/webhook.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { until } from '../support/until.ts';

const EVE: UserCaller = { ...ANN, email: 'eve@example.com', teams: ['other'] };
const ADMIN: UserCaller = { ...ANN, email: 'admin@example.com', isAdmin: true, teams: [] };
const URL = 'https://hooks.example.com/in?key=topsecret';

let world: DomainWorld;
beforeEach(async () => {
  world = await startDomain({ defaultLimits: { appsPerUser: 2, unitsPerApp: null }, diskReserveBytes: 1_000 });
  const createdAt = new Date().toISOString();
  await world.machine.store.transact(async (tx) => {
    await tx.insertUser({ email: ADMIN.email, passwordHash: '', isAdmin: true, createdAt });
    await tx.insertUser({ email: EVE.email, passwordHash: '', isAdmin: false, createdAt });
    await tx.insertTeam({ name: 'other', createdAt, members: [EVE.email] });
  });
  await world.createApp('shop');
});
afterEach(() => world.dispose());

const add = (by: UserCaller, scope: WebhookScope, owner: string, kinds: string[] = []): Promise<Webhook> =>
  world.useCases.webhooks.add(by, { scope, owner, url: URL, kinds });
const kindsFor = async ({ id }: Webhook): Promise<string[]> =>
  (await world.machine.store.deliveries(id, 1_000)).map(({ kind }) => kind).reverse();

describe('what happens is written for', () => {
  it('the app, its team, its user and the platform: a deploy that is done, one that fails, a unit that dies', async () => {
    const all = [
      await add(ANN, 'app', 'shop'),
      await add(ANN, 'team', 'crew'),
      await add(ANN, 'user', ANN.email),
      await add(ADMIN, 'platform', ''),
    ];
    const others = [await add(EVE, 'team', 'other'), await add(EVE, 'user', EVE.email)];
    await world.createApp('blog');
    const blog = await add(ANN, 'app', 'blog');
    const failures = await add(ANN, 'app', 'shop', ['deploy.failed']);
    await world.deploy('shop');
    await expect(world.deploy('shop', { failure: 'build_failed' })).rejects.toMatchObject({ code: 'deploy.failed' });
    const [unit] = await world.machine.store.units('shop');
    await world.machine.units.kill(unit?.id ?? '');
    const expected = ['deploy.done', 'deploy.failed', 'unit.died'];
    for (const webhook of all) {
      await until(async () => (await kindsFor(webhook)).length >= 3, { what: 'three deliveries' });
      expect(await kindsFor(webhook), webhook.scope).toEqual(expected);
    }
    for (const webhook of [...others, blog]) expect(await kindsFor(webhook)).toEqual([]);
    expect(await kindsFor(failures)).toEqual(['deploy.failed']);
    const bodies = (await world.machine.store.deliveries(all[0]?.id ?? '', 10)).map(({ body }) => JSON.parse(body));
    expect(bodies).toMatchObject([
      { type: 'unit.died', data: { app: 'shop', unit: 'shop/0', process: 'web' } },
      { type: 'deploy.failed', data: { app: 'shop', by: ANN.email } },
      { type: 'deploy.done', data: { app: 'shop', by: ANN.email, release: 1 } },
    ]);
  });

  it('who is refused by a quota, once an hour', async () => {
    const [own, every] = [await add(ANN, 'user', ANN.email), await add(ADMIN, 'platform', '')];
    await world.createApp('second');
    for (let count = 0; count < 3; count += 1) {
      await expect(world.createApp('third')).rejects.toMatchObject({ code: 'quota.exceeded' });
    }
    expect([await kindsFor(own), await kindsFor(every)]).toEqual([['quota.reached'], ['quota.reached']]);
    world.machine.pass(60 * 60_000 + 1_000);
    await expect(world.createApp('third')).rejects.toMatchObject({ code: 'quota.exceeded' });
    expect(await kindsFor(own)).toHaveLength(2);
  });

  it('the platform when its disk is low, once, and again after there was clearly more room', async () => {
    const [every, own] = [await add(ADMIN, 'platform', ''), await add(ANN, 'user', ANN.email)];
    const look = async (freeBytes: number): Promise<number> => {
      world.machine.probe.space = { freeBytes, totalBytes: 10_000, freeFiles: 0, totalFiles: 0 };
      await world.parts.diskWatch.look();
      return (await kindsFor(every)).length;
    };
    expect([await look(1_000), await look(999), await look(10), await look(1_200), await look(500)]).toEqual([
      0, 1, 1, 1, 1,
    ]);
    world = await world.next();
    expect([await look(500), await look(1_250), await look(999)]).toEqual([1, 1, 2]);
    expect(await kindsFor(own)).toEqual([]);
  });

  it('a deploy that a crash cut off, by the control that finds it', async () => {
    const webhook = await add(ANN, 'app', 'shop');
    world.faults.arm({ call: 1, moment: 'before', only: 'builder.build' });
    void world.deploy('shop');
    await world.faults.crashed;
    world = await world.next();
    expect(await kindsFor(webhook)).toEqual(['deploy.failed']);
  });
});

describe('what is written', () => {
  const sent: string[] = [];
  beforeEach(() => {
    sent.length = 0;
    world.machine.webhookSender.answer = async (_, { id }) => {
      sent.push(id);
      return { status: 204, answer: '', retryAfterMs: 0 };
    };
  });

  const first = async ({ id }: Webhook): Promise<Delivery> => {
    const delivery = (await world.machine.store.deliveries(id, 10)).at(-1);
    if (delivery === undefined) throw new Error('there is none');
    return delivery;
  };
  const whenIn = (webhook: Webhook, state: Delivery['state']): Promise<void> =>
    until(async () => (await first(webhook).catch(() => null))?.state === state, {
      what: `a delivery that is ${state}`,
    });

  it('is sent as soon as it is committed', async () => {
    const webhook = await add(ANN, 'app', 'shop');
    world.parts.webhookDeliveries.start();
    await world.deploy('shop');
    await whenIn(webhook, 'delivered');
    expect(sent).toEqual([(await first(webhook)).id]);
    expect(await first(webhook)).toMatchObject({ attempts: 1, status: 204 });
  });

  it('is sent again by the next control where the answer was not recorded, with the same ID', async () => {
    const webhook = await add(ANN, 'app', 'shop');
    await world.deploy('shop');
    const before = world;
    world.machine.webhookSender.answer = async (_, { id }) => {
      sent.push(id);
      before.crash();
      return { status: 204, answer: '', retryAfterMs: 0 };
    };
    world.parts.webhookDeliveries.start();
    await world.faults.crashed;
    world = await world.next();
    world.machine.webhookSender.answer = async (_, { id }) => {
      sent.push(id);
      return { status: 200, answer: 'thanks', retryAfterMs: 0 };
    };
    world.parts.webhookDeliveries.start();
    await whenIn(webhook, 'delivered');
    const { id } = await first(webhook);
    expect(sent).toEqual([id, id]);
  });

  it('goes on to the others while one receiver hangs, and one at a time to each', async () => {
    const [hung, well] = [await add(ANN, 'app', 'shop'), await add(ANN, 'team', 'crew')];
    let atOnce = 0;
    world.machine.webhookSender.answer = async ({ id }, delivery, _, signal) => {
      if (id === hung.id) {
        atOnce += 1;
        expect(atOnce).toBe(1);
        await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))));
      }
      sent.push(delivery.id);
      return { status: 204, answer: '', retryAfterMs: 0 };
    };
    world.parts.webhookDeliveries.start();
    await world.deploy('shop');
    await world.deploy('shop');
    await until(() => sent.length === 2, { what: 'two messages' });
    await world.parts.webhookDeliveries.close();
    expect((await world.machine.store.deliveries(hung.id, 10)).map(({ state, attempts }) => [state, attempts])).toEqual(
      [
        ['waiting', 0],
        ['waiting', 0],
      ],
    );
    expect((await first(well)).state).toBe('delivered');
  });

  it('comes in turn, however much waits for others', async () => {
    const others = [];
    for (let n = 0; n < 9; n += 1) others.push(await add(ANN, 'app', 'shop'));
    for (let n = 0; n < 3; n += 1) await world.deploy('shop');
    const late = await add(ANN, 'team', 'crew');
    await world.deploy('shop');
    const served: string[] = [];
    world.machine.webhookSender.answer = async ({ id }) => {
      served.push(id);
      return { status: 204, answer: '', retryAfterMs: 0 };
    };
    world.parts.webhookDeliveries.start();
    await whenIn(late, 'delivered');
    expect(served.indexOf(late.id)).toBeLessThan(2 * others.length);
  });

  it('is tried again, and can be sent again when it is over', async () => {
    const webhook = await add(ANN, 'app', 'shop');
    world.machine.webhookSender.answer = async () => ({ status: 410, answer: 'gone', retryAfterMs: 0 });
    world.parts.webhookDeliveries.start();
    await world.deploy('shop');
    await whenIn(webhook, 'failed');
    const { id } = await first(webhook);
    world.machine.webhookSender.answer = async () => ({ status: 204, answer: '', retryAfterMs: 0 });
    await expect(world.useCases.webhooks.resend(EVE, webhook.id, id)).rejects.toMatchObject({ code: 'access.denied' });
    await expect(world.useCases.webhooks.resend(ANN, webhook.id, 'msg_x')).rejects.toMatchObject({
      code: 'webhook.not_found',
    });
    expect(await world.useCases.webhooks.resend(ANN, webhook.id, id)).toMatchObject({ id, state: 'waiting' });
    await whenIn(webhook, 'delivered');
    expect(await world.useCases.webhooks.deliveries(ANN, webhook.id)).toMatchObject([{ id, status: 204, attempts: 1 }]);
  });
});

describe('webhooks', () => {
  it('are kept by those whose app, team or account it is, and by admins', async () => {
    const own = await add(ANN, 'app', 'shop');
    await expect(add(EVE, 'app', 'shop')).rejects.toMatchObject({ code: 'access.denied' });
    await expect(add(EVE, 'team', 'crew')).rejects.toMatchObject({ code: 'access.denied' });
    await expect(add(EVE, 'user', ANN.email)).rejects.toMatchObject({ code: 'access.denied' });
    await expect(add(ANN, 'platform', '')).rejects.toMatchObject({ code: 'access.denied' });
    await expect(add(ADMIN, 'user', 'nobody@example.com')).rejects.toMatchObject({ code: 'user.not_found' });
    const { info, deliveries, test, remove } = world.useCases.webhooks;
    for (const use of [info, deliveries, test, remove]) {
      await expect(use(EVE, own.id)).rejects.toMatchObject({ code: 'access.denied' });
    }
    const listed = async (by: UserCaller): Promise<string[]> =>
      (await world.useCases.webhooks.list(by)).map(({ webhook }) => webhook.id);
    const platform = await add(ADMIN, 'platform', '');
    expect([await listed(ANN), await listed(EVE), await listed(ADMIN)]).toEqual([[own.id], [], [own.id, platform.id]]);
    await remove(ANN, own.id);
    await expect(info(ANN, own.id)).rejects.toMatchObject({ code: 'webhook.not_found' });
  });

  it('have an address, events that there are, and a number', async () => {
    const refused = { code: 'webhook.invalid' };
    for (const url of ['ftp://example.com', 'https://ann:pw@example.com', 'https://example.com/#x', 'nonsense']) {
      const given = { scope: 'app', owner: 'shop', url, kinds: [] } as const;
      await expect(world.useCases.webhooks.add(ANN, given), url).rejects.toMatchObject(refused);
    }
    await expect(add(ANN, 'app', 'shop', ['deploy.begun'])).rejects.toMatchObject(refused);
    for (let count = 0; count < 10; count += 1) await add(ANN, 'app', 'shop');
    await expect(add(ANN, 'app', 'shop')).rejects.toMatchObject({ code: 'quota.exceeded' });
  });

  it('are tested with a message that is kept with its answer, and no secret of theirs is in the record', async () => {
    const webhook = await add(ANN, 'app', 'shop');
    world.machine.webhookSender.answer = async () => ({ status: 500, answer: 'no', retryAfterMs: 0 });
    const over = { kind: 'webhook.test', state: 'failed', status: 500, answer: 'no', attempts: 1 };
    expect(await world.useCases.webhooks.test(ANN, webhook.id)).toMatchObject(over);
    expect(await world.useCases.webhooks.deliveries(ANN, webhook.id)).toMatchObject([over]);
    expect(await world.machine.store.nextDeliveryAt()).toBeNull();
    for (let test = 0; test < 205; test += 1) await world.useCases.webhooks.test(ANN, webhook.id);
    expect(await world.machine.store.deliveries(webhook.id, 1_000)).toHaveLength(200);
    expect(JSON.stringify(await world.useCases.events.list(ADMIN))).not.toMatch(/topsecret|whsec/);
  });

  it('go with their app, and with their team', async () => {
    const [shop, other] = [await add(ANN, 'app', 'shop'), await add(EVE, 'team', 'other')];
    await world.remove('shop');
    await world.useCases.teams.remove(EVE, 'other');
    for (const { id } of [shop, other]) expect(await world.machine.store.webhook(id)).toBeNull();
  });
});
