/** A lock file names where each package comes from: another registry than the usual one has to be reached by the build as well. */
import type { SourceFiles } from '../../source/source-files.ts';

const USUAL = [
  'registry\\.npmjs\\.org',
  'registry\\.yarnpkg\\.com',
  'npm\\.jsr\\.io',
  'github\\.com',
  'codeload\\.github\\.com',
];
const ELSEWHERE = new RegExp(
  `(?:\\bresolved"?:? "|\\btarball: )https?://(?!(?:${USUAL.join('|')})[/:])([\\w.-]{1,253})[/:]`,
);

/** For people; null where all is as usual. */
export async function otherRegistry(files: SourceFiles, lock: string | null): Promise<string | null> {
  const found = lock === null ? null : await files.findLine(lock, ELSEWHERE);
  if (found === null) return null;
  return `${found.file} line ${found.line} has packages come from ${found.match[1] ?? ''}, which builds have to reach; for the usual registry write the lock file anew`;
}
