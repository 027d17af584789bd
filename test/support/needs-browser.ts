/** For files whose tests are all about pages in a browser. */
import { beforeEach } from 'vitest';
import { WITHOUT_BROWSER } from './browser.ts';
import { pageStates } from './page-state.ts';
import type { World } from './world.ts';

const LAST_OUTPUT = 3_000;

/** They are skipped where there is no browser; one that fails reports what its pages were doing, and what the server said last. */
export function needsBrowser(world: () => World | undefined): void {
  beforeEach((context) => {
    context.skip(WITHOUT_BROWSER !== '', WITHOUT_BROWSER);
    context.onTestFailed(async () => {
      const said = world()?.output().slice(-LAST_OUTPUT) ?? '';
      console.error(`${await pageStates()}\nthe server said last:\n${said}`);
    });
  });
}
