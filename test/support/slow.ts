/** Whether also that runs which takes long, as in .ci/run: longer forms, every isolation level. */
export const SLOW = process.env['TANCHO_TEST_SLOW'] === '1';
