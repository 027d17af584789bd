/** Pushes apps of the corpus to one platform, as a person would, and looks at what became of them. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type CorpusWorld, corpusWorld, namedIn, PUSH_MS, type PushResult } from './corpus-world.ts';
import { missingNeed } from './needs.ts';
import type { PushedApp, PushedApps } from './pushed-app.ts';
import { ofRounds } from '../../support/rounds.ts';

/** One test for each, one after the other: those that share an app find what the others fetched. */
export function pushAll(apps: PushedApps): void {
  let corpus: CorpusWorld;
  beforeAll(async () => {
    corpus = await corpusWorld();
  });
  afterAll(() => corpus?.dispose());

  const chosen = ofRounds(Object.entries(apps), ([, { isExtra }]) => isExtra !== true);
  const named = chosen.map(([title, app], index) => [title, app, app.app ?? `app-${index}`] as const);
  it.for(named)('%s', { timeout: PUSH_MS }, async ([, app, name], test) => {
    const missing = await missingNeed(app.needs ?? []);
    if (missing !== null) return test.skip(missing);
    await corpus.createApp(name, app.platform ?? 'auto');
    if (app.settings !== undefined) await corpus.tancho(['app', 'update', '-a', name, ...app.settings]);
    const work = await corpus.workTree(app.files);
    try {
      const pushed = await corpus.push(work, name);
      for (const text of app.says ?? []) expect(pushed.stderr).toContain(text);
      if (app.fails === undefined) await serves(corpus, name, app, pushed);
      else failsAs(app.fails, pushed);
    } finally {
      await work.dispose();
    }
  });
}

/** Without waiting: whoever reads that it serves looks at once. */
async function serves(corpus: CorpusWorld, name: string, { pages = {} }: PushedApp, pushed: PushResult): Promise<void> {
  expect(pushed.code, pushed.stderr).toBe(0);
  for (const [path, text] of Object.entries(pages)) {
    const page = await corpus.page(name, path);
    expect(page.text, path).toContain(text);
    if (!String(page.headers['content-type']).startsWith('text/html')) continue;
    for (const asset of namedIn(page.text)) {
      const { status, headers } = await corpus.page(name, new URL(asset, `http://app${path}`).pathname);
      expect([asset, status, headers['content-type']]).toEqual([asset, 200, expect.not.stringContaining('text/html')]);
    }
  }
}

function failsAs({ cause, message }: NonNullable<PushedApp['fails']>, pushed: PushResult): void {
  expect(pushed.code, pushed.stderr).not.toBe(0);
  expect(pushed.error).toMatch(message);
  expect(pushed.cause).toBe(cause);
  // git begins each line with "remote: ".
  expect(pushed.stderr).toContain(`Deploy failed (${cause}): `);
}
