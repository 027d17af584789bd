import { describe, expect, it } from 'vitest';
import { processorMs } from '../../../test/support/processor-ms.ts';
import { checkMountPath } from '../volumes/volume.ts';
import { changedSettings, NO_SETTINGS } from './app-settings.ts';

const rootOf = (root: string): string => changedSettings(NO_SETTINGS, { root }).root;

describe('paths that people send', () => {
  it('are taken with what may stand around them', () => {
    expect(['./apps/web/', '././apps//', '.', './', '/'].map((path) => attempt(() => rootOf(path)))).toEqual([
      'apps/web',
      'apps',
      '',
      '',
      '',
    ]);
    expect(['/data/', './data//', 'data'].map(checkMountPath)).toEqual(['/data', 'data', 'data']);
  });

  it.each([
    ['the root of an app', rootOf],
    ['the path of a volume', checkMountPath],
  ])('hold nobody up, however many slashes there are: %s', (_what, check) => {
    const begun = processorMs();
    expect(() => check(`a${'/'.repeat(600_000)}b`)).toThrow(/not a directory|no path/);
    expect(processorMs() - begun).toBeLessThan(10_000);
  });
});

function attempt(work: () => string): string {
  try {
    return work();
  } catch {
    return 'refused';
  }
}
