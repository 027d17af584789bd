/** What the program makes of each app of the corpus, by its files alone. Some of them are built and served in test/platforms. */
import { describe, expect, it } from 'vitest';
import { LANGUAGES } from '../../src/build-plan/languages/built-in.ts';
import { planSource } from '../../src/build-plan/plan-source.ts';
import { sourceOf } from '../support/memory-source.ts';
import type { CorpusApp } from './corpus-app.ts';
import { NODE_APPS } from './node-apps.ts';
import { OTHER_APPS } from './other-apps.ts';

const APPS = [...Object.entries(NODE_APPS), ...Object.entries(OTHER_APPS)];

describe('the corpus', () => {
  it('has at least 60 apps, each of which says what becomes of it', () => {
    expect(APPS.length).toBeGreaterThanOrEqual(60);
    for (const [name, { files: _files, ...expected }] of APPS) expect(Object.keys(expected), name).not.toEqual([]);
  });

  it.for(APPS)('%s', async ([, app]) => {
    const request = { app: 'shop', platform: 'auto', languages: LANGUAGES, files: sourceOf(app.files) };
    if (app.throws !== undefined) return expect(planSource(request)).rejects.toThrow(app.throws);
    const { plan, appFiles } = await planSource(request);
    const isRefused = app.problem !== undefined || app.isRefused === true;
    expect(plan.problems.length > 0, JSON.stringify(plan.problems)).toBe(isRefused);
    for (const { message, hint } of plan.problems) expect([message, hint].every((text) => text.length > 20)).toBe(true);
    const { dependencies, steps, processes, site, newVariables } = plan;
    const run = [...dependencies.flatMap((set) => set.steps), ...steps].map((step) => step.run.join(' '));
    const found: Record<keyof Omit<CorpusApp, 'files' | 'throws' | 'isRefused'>, unknown> = {
      title: plan.title,
      web: processes['web']?.command,
      process: [app.process?.[0], processes[app.process?.[0] ?? '']?.command],
      steps: run,
      lastStep: run.at(-1),
      roots: site?.roots,
      options: appFiles.config.options,
      healthPath: appFiles.config.healthCheck?.path,
      release: appFiles.release,
      says: plan.notes.join('\n'),
      variables: newVariables.map(({ name }) => name),
      problem: plan.problems[0]?.message,
    };
    for (const [key, value] of Object.entries(found)) {
      const expected = app[key as keyof typeof found];
      if (expected instanceof RegExp) expect(value).toMatch(expected);
      else if (key === 'says' && expected !== undefined) expect(value).toContain(expected);
      else if (expected !== undefined) expect(value, key).toEqual(expected);
    }
  });
});
