import { PlatformError } from '../../../domain/errors.ts';
import { type Git, runGit } from './git-command.ts';

/** The first version with all that is used here; 2.36 and newer also clear away what a killed push left. */
const OLDEST = [2, 28] as const;

/** Answers git's version. Throws `unavailable`, in one sentence, when git is missing or too old. */
export async function checkGit(git: Git): Promise<string> {
  const { stdout } = await runGit(git, ['version'], { timeoutMs: 10_000 });
  const version = /^git version (\d+)\.(\d+)[^\s]*/.exec(stdout.toString());
  if (version === null) throw new PlatformError('unavailable', `"${git.program}" does not answer like git.`);
  const [major, minor] = [Number(version[1]), Number(version[2])];
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return version[0].slice('git version '.length);
  throw new PlatformError('unavailable', `git ${major}.${minor} is too old: the platform needs 2.28 or newer.`, {
    hint: 'Install a newer git and try again.',
  });
}
