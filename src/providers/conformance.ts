/** What every provider does with steps that come twice, late, or under a name that was used before, whatever it stands in front of. */
import { expect, it } from 'vitest';
import type { BindRequest, CreateRequest, ProviderHandlers } from './contract.ts';

const CALLER = { user: 'ann@example.com', fields: new Map<string, readonly string[]>() };
type Removal = Parameters<ProviderHandlers['remove']>[0];

let steps = 0;
/** Of a step of its own. */
const freshKey = (): string => `key-${(steps += 1)}`;

export function createOf(instance: string, more: Partial<CreateRequest> = {}): CreateRequest {
  const ids = { instanceId: '', bindingId: '' };
  return { ...CALLER, ...ids, idempotencyKey: freshKey(), team: 'red', plan: '', instance, ...more };
}

export function bindOf(instance: string, app = 'shop.example.com', bindingId = ''): BindRequest {
  return { ...CALLER, idempotencyKey: freshKey(), instanceId: '', bindingId, instance, app };
}

export function removalOf(instance: string, instanceId = ''): Removal {
  return { ...CALLER, idempotencyKey: freshKey(), instanceId, bindingId: '', instance };
}

interface OpenedProvider extends ProviderHandlers {
  close(): void | Promise<void>;
}

/** `plan`: one that it has. `open`: another one on the same server, with what is known there. */
export function providerConformance(
  plan: string,
  provider: () => ProviderHandlers,
  open: () => Promise<OpenedProvider>,
) {
  it('repeats of a step come to the same end, also after a restart', async () => {
    const request = createOf('again', { plan });
    await Promise.all([provider().create(request), provider().create(request)]);
    await expect(provider().create(createOf('again'))).rejects.toMatchObject({ code: 'exists' });
    const first = await provider().bind(bindOf('again'));
    expect(await provider().bind(bindOf('again'))).toEqual(first);
    const restarted = await open();
    try {
      await restarted.create(request);
      expect(await restarted.bind(bindOf('again'))).toEqual(first);
      await restarted.unbind(bindOf('again'));
    } finally {
      await restarted.close();
    }
    expect(await provider().bind(bindOf('again'))).not.toEqual(first);
  });

  it('a late twin of a step that was undone does nothing', async () => {
    const made = createOf('late');
    await provider().create(made);
    const step = bindOf('late');
    await provider().bind(step);
    await provider().unbind(bindOf('late'));
    await expect(provider().bind(step)).rejects.toMatchObject({ code: 'exists' });
    await provider().remove(removalOf('late'));
    await expect(provider().create(made)).rejects.toMatchObject({ code: 'exists' });
    await expect(provider().info('late')).rejects.toMatchObject({ code: 'unknown_instance' });
  });

  it('what is late means what was there when it was sent', async () => {
    const app = 'a.example.com';
    await provider().create(createOf('moved', { instanceId: 'i1' }));
    await provider().unbind(bindOf('moved', app, 'b0'));
    await expect(provider().bind(bindOf('moved', app, 'b0'))).rejects.toMatchObject({ code: 'exists' });
    const first = await provider().bind(bindOf('moved', app, 'b1'));
    await provider().unbind(bindOf('moved', app, 'b0'));
    expect(await provider().bind(bindOf('moved', app, 'b2'))).toEqual(first);
    await provider().unbind(bindOf('moved', app, 'b1'));
    expect(await provider().bind(bindOf('moved', app, 'b2'))).toEqual(first);
    const another = provider().remove(removalOf('moved', 'i0'));
    await expect(another).rejects.toMatchObject({ code: 'unknown_instance' });
    expect(await provider().status('moved')).toBe('up');
    await provider().remove(removalOf('moved', 'i1'));
    const before = provider().create(createOf('moved', { instanceId: 'i0' }));
    await expect(before).rejects.toMatchObject({ code: 'exists' });
    await provider().create(createOf('moved', { instanceId: 'i2' }));
  });

  it('has the plans that it names, and no other', async () => {
    expect((await provider().plans()).map(({ name }) => name)).toContain(plan);
    await expect(provider().create(createOf('huge', { plan: 'huge' }))).rejects.toMatchObject({ code: 'invalid' });
    await provider().create(createOf('even', { plan }));
    expect(await provider().status('even')).toBe('up');
  });

  it('an instance that is gone is unknown, and what is not bound is unbound already', async () => {
    await provider().create(createOf('bare'));
    await provider().unbind(bindOf('bare'));
    await provider().remove(removalOf('bare'));
    await expect(provider().remove(removalOf('bare'))).rejects.toMatchObject({ code: 'unknown_instance' });
    await expect(provider().status('bare')).rejects.toMatchObject({ code: 'unknown_instance' });
  });
}
