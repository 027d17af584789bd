/** What every log store must do, whatever it is made of. The cases are in testing/. */
import { describe, expect, test } from 'vitest';
import { SLOW } from '../../../test/support/slow.ts';
import { boundCases } from './testing/bounds.ts';
import type { LogStoreCases, LogStoreUnderTest } from './testing/case.ts';
import { drainCases } from './testing/drains.ts';
import { entryCases } from './testing/entries.ts';
import { metricsCases } from './testing/metrics.ts';
import { queryCases } from './testing/queries.ts';
import { sealingCases } from './testing/sealing.ts';
import { longSearchingCases, searchingCases } from './testing/searching.ts';

const GROUPS: Readonly<Record<string, LogStoreCases>> = {
  entries: entryCases,
  queries: queryCases,
  bounds: boundCases,
  sealing: sealingCases,
  drains: drainCases,
  metrics: metricsCases,
  searching: { ...searchingCases, ...(SLOW ? longSearchingCases : {}) },
};

/** Raised with every case that is added, so that the suite cannot hollow out unnoticed. */
const CASES = SLOW ? 53 : 48;

/** `create` answers an empty log store each time. */
export function logStoreConformance(name: string, create: () => Promise<LogStoreUnderTest>): void {
  let finished = 0;
  describe(`log store conformance: ${name}`, () => {
    for (const [group, cases] of Object.entries(GROUPS)) {
      describe(group, () => {
        test.each(Object.entries(cases))('%s', async (_title, run) => {
          const under = await create();
          try {
            await run(under.store, under);
          } finally {
            finished += 1;
            await under.dispose();
          }
        });
      });
    }
    test(`has run all of its ${CASES} cases`, () => {
      expect(finished).toBe(CASES);
    });
  });
}
