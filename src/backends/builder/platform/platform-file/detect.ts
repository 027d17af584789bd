/** Does the source belong to the platform the app was created for? */
import { Failure } from '../../../../domain/rollouts/rollout.ts';
import type { SourceFiles } from '../../../../build-plan/source/source-files.ts';
import type { Platform } from './platform-file.ts';

/** Throws Failure `no_platform`. */
export function findPlatform(app: string, name: string, platforms: ReadonlyMap<string, Platform>): Platform {
  const platform = platforms.get(name);
  if (platform !== undefined) return platform;
  throw new Failure('no_platform', `The platform "${name}" of the app ${app} does not exist here.`, {
    hint: `Platforms of this server: ${[...platforms.keys()].join(', ')}.`,
  });
}

/** Throws Failure `no_platform`; says which platform the source looks like when it is another one. */
export async function checkSource(
  app: string,
  platform: Platform,
  platforms: ReadonlyMap<string, Platform>,
  files: SourceFiles,
): Promise<void> {
  if ((await firstMatch(platform, files)) !== null) return;
  const others: string[] = [];
  for (const other of platforms.values()) {
    const found = await firstMatch(other, files);
    if (found !== null) others.push(`${other.name} (it has ${found})`);
  }
  throw others.length === 0 ? await nothing(app, platform, files) : mismatch(app, platform, others);
}

/** Somebody may have pushed a repository whose app lies in a directory. */
async function nothing(app: string, platform: Platform, files: SourceFiles): Promise<Failure> {
  const message = `The app ${app} is of the platform ${platform.name}, but the source has none of: ${platform.detect.join(', ')}.`;
  for (const pattern of platform.detect) {
    const found = await files.find(`*/${pattern}`);
    const directory = found?.split('/')[0] ?? '';
    if (!/^[\w.-]+$/.test(directory) || directory.startsWith('-')) continue;
    return new Failure('no_platform', `${message} There is ${found}, but the app must lie at the top.`, {
      hint: `Deploy that directory: tancho deploy ${directory} -a ${app}   or: git subtree push --prefix ${directory} <remote> main`,
    });
  }
  return new Failure('no_platform', message, {
    hint: `Add one of these files at the top of the repository, commit and push again. An app of another platform is made with: tancho app create <name> <platform>`,
  });
}

async function firstMatch(platform: Platform, files: SourceFiles): Promise<string | null> {
  for (const pattern of platform.detect) {
    const found = await files.find(pattern);
    if (found !== null) return found;
  }
  return null;
}

function mismatch(app: string, platform: Platform, others: readonly string[]): Failure {
  const wanted = platform.detect.join(', ');
  const other = others[0] ?? '';
  const better = other.slice(0, other.indexOf(' '));
  return new Failure(
    'no_platform',
    `The app ${app} is of the platform ${platform.name}, but the source looks like ${others.join(' or ')}; none of these is there: ${wanted}.`,
    { hint: `Push it to an app of that platform: tancho app create <name> ${better}` },
  );
}
