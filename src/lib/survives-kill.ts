/** Processes that KILL does not end: they hang in the kernel, as on a file system that does not answer. */
export class SurvivesKill extends Error {
  override readonly name = 'SurvivesKill';
}
