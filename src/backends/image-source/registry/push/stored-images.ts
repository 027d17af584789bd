/** What a repository has, and its removal. */
import { isRecord } from '../../../../lib/is-record.ts';
import { readAnswer } from '../../../../lib/guarded/guarded-request.ts';
import { DIGEST } from '../../../../domain/deploys/image-name.ts';
import { notPushed } from '../failures.ts';
import { ACCEPT } from '../manifests.ts';
import type { RegistryClient } from '../registry-client.ts';
import { patiently, refused } from './push-blob.ts';

const MAX_LIST_BYTES = 4 * 1024 * 1024;
const MAX_PAGES = 100;
const GONE: ReadonlySet<number> = new Set([200, 202, 204, 404]);
/** Of registries that are not to remove anything. */
const NEVER: ReadonlySet<number> = new Set([405, 501]);

interface Withdrawal {
  /** A digest or a tag. */
  readonly reference: string;
  /** Digests that stay, also where the tag is one of their names. */
  readonly unless: readonly string[];
}

/** False: this registry removes nothing. */
export async function withdraw(
  client: RegistryClient,
  { reference, unless }: Withdrawal,
  signal: AbortSignal,
): Promise<boolean> {
  return patiently({ client, signal }, async () => {
    const digest = DIGEST.test(reference) ? reference : await digestOf(client, reference);
    if (digest === null || unless.includes(digest)) return true;
    const answer = await client.send({ method: 'DELETE', to: `manifests/${digest}` });
    const { statusCode = 0 } = answer;
    if (!GONE.has(statusCode) && !NEVER.has(statusCode)) throw refused(client, answer);
    answer.destroy();
    return GONE.has(statusCode);
  });
}

async function digestOf(client: RegistryClient, tag: string): Promise<string | null> {
  const answer = await client.send({ method: 'HEAD', to: `manifests/${tag}`, headers: { accept: ACCEPT } });
  answer.destroy();
  if (answer.statusCode === 404) return null;
  if (answer.statusCode !== 200) throw refused(client, answer);
  const digest = String(answer.headers['docker-content-digest'] ?? '');
  if (DIGEST.test(digest)) return digest;
  throw notPushed('the registry does not say which image it has by a name.');
}

/** Sorted. */
export async function storedTags(client: RegistryClient, signal: AbortSignal): Promise<string[]> {
  const found: string[] = [];
  let next: string | URL | null = 'tags/list?n=500';
  for (let pages = 0; next !== null && pages < MAX_PAGES; pages += 1) {
    const page: string | URL = next;
    const answer = await patiently({ client, signal }, async () => {
      const given = await client.send({ method: 'GET', to: page });
      if (given.statusCode === 200 || given.statusCode === 404) return given;
      throw refused(client, given);
    });
    const text = await readAnswer(answer, MAX_LIST_BYTES, signal);
    if (answer.statusCode === 404) break;
    found.push(...tagsIn(text));
    next = await client.nextPage(answer);
  }
  return found.sort();
}

function tagsIn(text: string): string[] {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    throw notPushed('the registry gives a list that is not JSON.');
  }
  const tags: unknown = isRecord(answer) ? answer['tags'] : null;
  return Array.isArray(tags) ? tags.filter((tag): tag is string => typeof tag === 'string') : [];
}
