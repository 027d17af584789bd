/** A registry whose certificate is of an authority of the operator's own (images.roots): Debian's docker-registry, by TLS. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DOCKER_REGISTRY, startDockerRegistry } from '../../../../test/support/docker-registry.ts';
import { ImageRegistry } from '../../../../test/support/image-registry.ts';
import { NO_DOCKER_REGISTRY, skipFor } from '../../../../test/support/skips.ts';
import type { ImageRegistry as Registry } from '../../../domain/artifacts/image-registry.ts';
import { parseImageName } from '../../../domain/deploys/image-name.ts';
import { LocalArtifacts } from '../../artifact-store/local/local-artifacts.ts';
import { createRegistryImages } from './registry-images.ts';
import { createRegistryPushes } from './registry-pushes.ts';

const NEVER = new AbortController().signal;
const ADDRESSES = { allow: [], allowLoopback: true, ownPorts: () => [] };
const COMMON = { addresses: ADDRESSES, logins: new Map<string, never>(), insecure: [], timeoutMs: 60_000 };
const NOBODY = new Map<string, never>();

describe(
  'a registry with a certificate of an own authority',
  skipFor(DOCKER_REGISTRY === null && NO_DOCKER_REGISTRY),
  () => {
    let registry: Awaited<ReturnType<typeof startDockerRegistry>>;
    let bases: ImageRegistry;
    let root: string;
    let artifacts: LocalArtifacts;

    beforeAll(async () => {
      registry = await startDockerRegistry(DOCKER_REGISTRY ?? '', true);
      bases = await ImageRegistry.start();
      bases.addImage('base', '1', { layers: [[{ path: 'bin/sh', data: 'a shell', mode: 0o755 }]], config: {} });
      root = mkdtempSync(join(tmpdir(), 'own-authority-'));
      artifacts = new LocalArtifacts(join(root, 'slugs'));
      const place = await artifacts.begin('shop', 'd1');
      writeFileSync(join(place.code, 'server.sh'), 'the server');
      await artifacts.put(place, { format: 1, platform: 'nodejs', path: [], env: {}, binds: [] });
    });
    afterAll(async () => {
      await Promise.all([registry.close(), bases.close()]);
      rmSync(root, { recursive: true, force: true });
    });

    const pushes = (roots: string | null): Registry =>
      createRegistryPushes({
        ...COMMON,
        ...{ artifacts, roots, place: `${registry.host}/apps`, directory: join(root, 'way') },
        bases: new Map([['*', `${bases.host}/base:1`]]),
      });
    const request = { app: 'shop', artifact: 'shop/d1', image: '', processes: { web: 'sh server.sh' }, logins: NOBODY };

    it('is pushed to and pulled from by who trusts that, and by nobody else', async () => {
      await expect(pushes(null).publish(request, () => {}, NEVER)).rejects.toMatchObject({
        code: 'push_failed',
        message: expect.stringContaining(`the certificate of ${registry.host} is signed by nobody`) as string,
        hint: expect.stringContaining('images.roots') as string,
      });
      const published = await pushes(registry.roots).publish(request, () => {}, NEVER);
      expect(published).toContain(`${registry.host}/apps/shop@sha256:`);
      const store = new LocalArtifacts(join(root, 'pulled'));
      const pull = (roots: string | null): Promise<unknown> =>
        createRegistryImages({ ...COMMON, artifacts: store, arch: 'x64', roots }).pull(
          { app: 'copy', deployId: 'd1', kept: [], commands: {}, logins: NOBODY, image: parseImageName(published) },
          () => {},
          NEVER,
        );
      await expect(pull(null)).rejects.toMatchObject({ code: 'pull_failed' });
      await pull(registry.roots);
      const code = join(root, 'slugs/shop/d1/code');
      expect(readFileSync(join(root, 'pulled/copy/d1/code', code, 'server.sh'), 'utf8')).toBe('the server');
    });

    it('says which file it is when the roots cannot be read', async () => {
      const missing = join(root, 'nowhere.pem');
      await expect(pushes(missing).publish(request, () => {}, NEVER)).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringContaining(missing) as string,
      });
    });
  },
);
