/**
 * What every Provisioner must do. An implementation's test file calls this once per configuration; a suite counts its own
 * cases and prints which it skips and why.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { comebackCases, commandCases, outputCases, restartCases } from './conformance-continuity.ts';
import { endCases, probeCases, readinessCases, startCases } from './conformance-life.ts';
import { Suite } from './conformance-suite.ts';
import { SLOW } from '../../../test/support/slow.ts';
import type { ConformanceOptions } from './conformance-suite.ts';

export type { ConformanceCommands, ConformanceOptions, ConformanceWorld } from './conformance-suite.ts';

const CASES = 42;

export function provisionerConformance(name: string, options: ConformanceOptions): void {
  describe(`provisioner ${name}`, () => {
    const suite = new Suite(options, SLOW || options.isCheap === true);
    beforeEach(() => suite.open());
    afterEach(() => suite.close());
    for (const cases of [
      startCases,
      readinessCases,
      probeCases,
      endCases,
      outputCases,
      restartCases,
      comebackCases,
      commandCases,
    ]) {
      cases(suite);
    }
    it(`has all its ${CASES} cases`, () => {
      expect(suite.counted).toBe(CASES);
    });
  });
}
