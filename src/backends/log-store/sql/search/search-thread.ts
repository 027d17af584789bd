/** The program of a thread that searches: blocks come in, entries go out. Looks no longer than a turn at what it is given. */
import { parentPort } from 'node:worker_threads';
import { letGo, openBlock, type Stream } from '../block.ts';
import { type Selected, Selection } from '../selection.ts';
import { type Finder, finderOf } from './finder.ts';
import type { SearchJob, SearchResult } from './search-job.ts';

/** Others wait for their turns meanwhile. */
const TURN_MS = 250;

/** Compiled once for all blocks of one search. */
let known: { readonly key: string; readonly finder: Promise<Finder | null> } | null = null;

parentPort?.on('message', (job: SearchJob) => {
  void search(job)
    .catch((error: unknown): SearchResult => ({ error: error instanceof Error ? error.message : String(error) }))
    .then((result) => parentPort?.postMessage(result));
});

async function search({ filter, isSafe, span, blocks }: SearchJob): Promise<SearchResult> {
  const key = JSON.stringify([filter.contains, filter.pattern, isSafe]);
  if (known?.key !== key) known = { key, finder: finderOf(filter, isSafe) };
  const selection = new Selection(filter, await known.finder);
  const endAt = performance.now() + TURN_MS;
  const found: Selected[] = [];
  let left = span.limit;
  for (const { streams, packed } of blocks) {
    const block = openBlock(packed);
    const selected = selection.entries(block, JSON.parse(streams) as Stream[], { ...span, limit: left, endAt });
    found.push(selected);
    left -= selected.entries.length;
    block.letGo();
    // It was given to this thread alone.
    letGo(packed.buffer);
    if (selected.stoppedAt !== null) break;
  }
  return { found };
}
