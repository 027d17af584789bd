/** Pure: how the references of a shared repository change. */
import { isNone, type RefUpdate } from '../../../../domain/deploys/kept-push.ts';
import type { PackRecord, RepositoryRecord } from '../../../../domain/deploys/repository-store.ts';
import { PlatformError } from '../../../../domain/errors.ts';

/** What a control knew when it packed something. */
interface Known {
  readonly id: string;
  readonly packs: readonly string[];
}

const UPLOADS = 'refs/tancho/uploads/';
const KEPT_UPLOADS = 50;

/** After a push. `head`: the branch that a clone is to check out where it gets nothing else. Throws `app.busy` when a reference has moved meanwhile. */
export function afterPush(
  record: RepositoryRecord | null,
  known: Known,
  push: { readonly updates: readonly RefUpdate[]; readonly pack: PackRecord | null; readonly head: string | null },
): RepositoryRecord {
  const kept = demandSame(record, known);
  const refs: Record<string, string> = { ...kept.refs };
  for (const { ref, from, to } of push.updates) {
    if ((refs[ref] ?? '') !== (isNone(from) ? '' : from)) throw movedMeanwhile(ref);
    if (isNone(to)) delete refs[ref];
    else refs[ref] = to;
  }
  const head = push.head === null || Object.hasOwn(refs, kept.head) ? kept.head : push.head;
  return { ...kept, version: kept.version + 1, head, refs, packs: withPack(kept.packs, push.pack) };
}

/** After archives have come; the newest ones are kept. */
export function afterUploads(
  record: RepositoryRecord | null,
  known: Known,
  uploads: { readonly refs: Readonly<Record<string, string>>; readonly pack: PackRecord | null },
): RepositoryRecord {
  const kept = demandSame(record, known);
  const refs: Record<string, string> = { ...kept.refs, ...uploads.refs };
  const names = Object.keys(refs).filter(isUpload).sort().reverse();
  for (const old of names.slice(KEPT_UPLOADS)) delete refs[old];
  return { ...kept, version: kept.version + 1, refs, packs: withPack(kept.packs, uploads.pack) };
}

export function isUpload(ref: string): boolean {
  return ref.startsWith(UPLOADS);
}

/** What was packed leaves out what was here then: it must still be there. */
function demandSame(record: RepositoryRecord | null, known: Known): RepositoryRecord {
  if (record?.id !== known.id) {
    throw new PlatformError('app.busy', 'The repository was made anew meanwhile.', { hint: 'Push again.' });
  }
  const there = new Set(record.packs.map(({ id }) => id));
  if (known.packs.every((id) => there.has(id))) return record;
  throw new PlatformError('app.busy', 'The repository was packed meanwhile.', { hint: 'Push again.' });
}

function withPack(packs: readonly PackRecord[], pack: PackRecord | null): readonly PackRecord[] {
  return pack === null ? packs : [...packs, pack];
}

function movedMeanwhile(ref: string): PlatformError {
  const name = ref.replace(/^refs\/(?:heads|tags)\//, '');
  return new PlatformError('app.busy', `The branch ${name} has moved meanwhile: somebody else pushed.`, {
    hint: 'Fetch their work, then push again.',
  });
}
