/** The last of a push: from here on the registry has the image. */
import { createHash } from 'node:crypto';
import type { RegistryClient } from '../registry-client.ts';
import { notPushed } from '../failures.ts';
import { refused } from './push-blob.ts';

interface PushedManifest {
  readonly text: string;
  readonly mediaType: string;
}

/** Every blob that it names is there. Answers its digest. Throws Failure `push_failed`, RequestFailure. */
export async function pushManifest(client: RegistryClient, tag: string, manifest: PushedManifest): Promise<string> {
  const { text, mediaType } = manifest;
  const digest = `sha256:${createHash('sha256').update(text).digest('hex')}`;
  const headers = { 'content-type': mediaType, 'content-length': `${Buffer.byteLength(text)}` };
  const answer = await client.send({ method: 'PUT', to: `manifests/${tag}`, headers, body: () => text });
  if (answer.statusCode !== 201) throw refused(client, answer);
  answer.destroy();
  const confirmed = answer.headers['docker-content-digest'];
  if (confirmed === undefined || confirmed === digest) return digest;
  throw notPushed(`the registry has taken it for something else (${String(confirmed)}).`);
}
