/** Whether also that runs which takes long, as in .ci/run: longer forms, every isolation level. */
export const SLOW = process.env['TANCHO_TEST_SLOW'] === '1';
/** Of sandboxes that need no network: one for each costs ten programs, and what it is for is tested in src/networks and isolation.test.ts. */
export const QUICK_NETWORK = SLOW ? 'auto' : 'shared';
/** For tests with random sequences: what fails is made shorter until then only, and a slow machine tries fewer of them. */
export const SEQUENCE_LIMIT = { interruptAfterTimeLimit: 240_000 };
//# sourceMappingURL=slow.js.map