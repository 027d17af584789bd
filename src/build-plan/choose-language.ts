/** Which language is a source written in, and is it the one of the app? */
import type { AppSettings } from '../domain/apps/app-settings.ts';
import { AUTO_PLATFORM } from '../domain/platforms/platform.ts';
import { Failure } from '../domain/failure.ts';
import { detectionOf } from './detection.ts';
import { byStrength, type Detection, type Language } from './language.ts';
import { otherLanguage } from './other-languages.ts';
import type { SourceFiles } from './source/source-files.ts';

/** How deep an app is looked for that lies in a directory, in how many, and how many of those found are named in the message. */
const LEVELS = 2;
const MAX_DIRECTORIES = 60;
const NAMED = 3;
const ASIDE = ['node_modules', 'vendor', 'docs', 'doc', 'test', 'tests'];

/** Sources of every kind have one, for what their authors format or test with. */
const OF_TOOLS = 'package.json';

interface ToChoose {
  readonly app: string;
  /** Of the app; `auto`: whatever the source is. */
  readonly platform: string;
  /** All there are; of two that are equally sure of a source the first is taken. */
  readonly languages: readonly Language[];
  readonly files: SourceFiles;
  /** Those that `auto` does not choose. */
  readonly disabled?: readonly string[];
  readonly settings?: Pick<AppSettings, 'startCommands'>;
}

interface Found {
  readonly language: Language;
  readonly detection: Detection;
}

/**
 * With `auto` all that are tried, in this order: the surest, others as sure, a Dockerfile, and, where the surest is known by a package.json,
 * which may be for tools only, all others. Throws Failure `no_platform` when there is no such platform; with `auto`, when the source is of none.
 */
export async function chooseLanguages(toChoose: ToChoose): Promise<readonly [Language, ...Language[]]> {
  const { app, platform, languages, files, disabled = [] } = toChoose;
  if (platform === AUTO_PLATFORM) {
    const [best, ...others] = await candidates(
      languages.filter(({ name }) => !disabled.includes(name)),
      toChoose,
    );
    if (best !== undefined) {
      const isNext = ({ detection }: Found): boolean =>
        byStrength(detection, best.detection) === 0 || detection.strength === 'recipe';
      const rest = best.detection.because === OF_TOOLS ? others.filter((other) => !isNext(other)) : [];
      const next = [...others.filter(isNext), ...rest];
      return [best.language, ...next.map(({ language }) => language)];
    }
    const other = await otherLanguage(files);
    // Of a program in a directory others may be apps, too.
    const isOneOfMany = other?.because.includes('/') === true && (await appsBelow(files, languages)).length > 0;
    if (other !== null && !isOneOfMany) {
      throw new Failure(
        'no_platform',
        `The app ${app} is written in ${other.name} (it has ${other.because}), for which there is no platform here.`,
        { hint: other.hint ?? 'Add a Dockerfile that builds and starts it, commit and push again.' },
      );
    }
    if (await isBare(files)) {
      throw new Failure('no_platform', `The app ${app} has no code yet.`, {
        hint: 'Add the files of the app to the repository (git add -A, git commit), and push again.',
      });
    }
    const looked = languages.map(({ name, signs }) => `${name}: ${signs.join(', ')}`).join('; ');
    throw await nothing(app, `What the app ${app} is written in is not recognised.`, languages, files, {
      hint: `One of these files is to be at the top of the repository: ${looked}.`,
    });
  }
  const language = languages.find(({ name }) => name === platform);
  if (language !== undefined) return [language];
  throw new Failure('no_platform', `The platform "${platform}" of the app ${app} does not exist here.`, {
    hint: `Platforms of this server: ${languages
      .map(({ name }) => name)
      .sort()
      .join(', ')}.`,
  });
}

/** What a new repository begins with. */
const BEGINNINGS = /^(?:\.|readme\b|licen[cs]e\b|copying\b)/i;

async function isBare(files: SourceFiles): Promise<boolean> {
  return (await files.list('')).every((name) => BEGINNINGS.test(name));
}

/** Throws Failure `no_platform`; says what the source looks like when it is something else. */
export async function checkSource(language: Language, toChoose: Omit<ToChoose, 'platform'>): Promise<void> {
  const { app, languages, files } = toChoose;
  if ((await detectionOf(language, files, commandsOf(toChoose))) !== null) return;
  const others = await candidates(languages, toChoose);
  const [best] = others;
  const wanted = language.signs.join(', ');
  if (best === undefined) {
    const message = `The app ${app} is of the platform ${language.name}, but the source has none of: ${wanted}.`;
    throw await nothing(app, message, [language], files, {
      hint: `Add one of these files at the top of the repository, commit and push again; or give the app another platform: tancho app update ${app} --platform <platform>`,
    });
  }
  const looks = others.map((other) => `${other.language.name} (it has ${other.detection.because})`).join(' or ');
  throw new Failure(
    'no_platform',
    `The app ${app} is of the platform ${language.name}, but the source looks like ${looks}; none of these is there: ${wanted}.`,
    { hint: `Change the app and push again: tancho app update ${app} --platform ${best.language.name}` },
  );
}

function commandsOf({ settings }: Pick<ToChoose, 'settings'>): string[] {
  return Object.values(settings?.startCommands ?? {});
}

async function candidates(
  languages: readonly Language[],
  source: Pick<ToChoose, 'files' | 'settings'>,
): Promise<Found[]> {
  const found: Found[] = [];
  for (const language of languages) {
    const detection = await detectionOf(language, source.files, commandsOf(source));
    if (detection !== null) found.push({ language, detection });
  }
  return found.sort((a, b) => byStrength(a.detection, b.detection));
}

/** Somebody may have pushed a repository whose app lies in a directory. */
async function nothing(
  app: string,
  message: string,
  languages: readonly Language[],
  files: SourceFiles,
  otherwise: { readonly hint: string },
): Promise<Failure> {
  const [first, ...others] = await appsBelow(files, languages);
  if (first === undefined) return new Failure('no_platform', message, otherwise);
  if (others.length === 0 && (await isRecipeOfAll(files, first))) {
    return new Failure('no_platform', `${message} There is ${first.because}, which is not at the top.`, {
      hint: `Name it in a file tancho.yaml at the top, as "dockerfile: { file: ${first.because} }", commit and push again after: tancho app update ${app} --platform dockerfile`,
    });
  }
  const all = [first, ...others].slice(0, NAMED);
  const there = all.map(({ because }) => because).join(' and ');
  const are = all.length === 1 ? 'is' : 'are';
  const rest = all.slice(1).map(({ directory }) => directory);
  return new Failure('no_platform', `${message} There ${are} ${there}, but the app must lie at the top.`, {
    hint: `Make ${rest.length === 0 ? 'that' : 'one'} directory the app and push again: tancho app update ${app} --root ${first.directory}${rest.length === 0 ? '' : `   (or ${rest.join(', ')})`}`,
  });
}

interface AppBelow {
  readonly directory: string;
  /** The file that says so. */
  readonly because: string;
}

/** In directories of the source, two levels deep at most, that hold what one of the languages is known by. */
async function appsBelow(files: SourceFiles, languages: readonly Language[]): Promise<AppBelow[]> {
  const signs = languages.flatMap(({ signs: patterns }) => patterns).filter((pattern) => !pattern.includes('/'));
  const found: AppBelow[] = [];
  let level = await directoriesIn(files, '');
  for (let depth = 0; depth < LEVELS; depth += 1) {
    const next: string[] = [];
    for (const directory of level.slice(0, MAX_DIRECTORIES)) {
      const inside = files.below(directory);
      const sign = await inside.find(...signs);
      if (sign !== null) found.push({ directory, because: `${directory}/${sign}` });
      else next.push(...(await directoriesIn(files, directory)));
    }
    level = next;
  }
  return found;
}

/** What such a directory has for a Dockerfile that copies from above it. */
const FOR_RECIPE = /^(?:docker|container)file|\.(?:sh|conf|ya?ml|md|env|ini|template)$|^\./i;

async function isRecipeOfAll(files: SourceFiles, { directory, because }: AppBelow): Promise<boolean> {
  if (!/\/(?:Docker|Container)file$/.test(because)) return false;
  return (await files.list(directory)).every((name) => FOR_RECIPE.test(name));
}

async function directoriesIn(files: SourceFiles, directory: string): Promise<string[]> {
  const names = (await files.list(directory)).filter((name) => /^\w[\w-]*$/.test(name) && !ASIDE.includes(name));
  return names.map((name) => (directory === '' ? name : `${directory}/${name}`));
}
