/** Images that a Dockerfile begins with: fetched by the platform, which checks what comes, and named so that nothing else is looked for. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Recipe } from '../../../../build-plan/build-plan.ts';
import { expandedWith } from '../../../../build-plan/languages/dockerfile/stages.ts';
import { type ImageName, parseImageName } from '../../../../domain/deploys/image-name.ts';
import type { CopyRequest, ImageSource } from '../../../../domain/deploys/image-source.ts';
import { PlatformError } from '../../../../domain/errors.ts';
import { Failure } from '../../../../domain/failure.ts';
import type { BuildOutput } from '../steps/output.ts';

export interface DockerfileBase {
  /** As the Dockerfile names it, its variables replaced. */
  readonly image: string;
  /** Where it lies, below the directory of bases. */
  readonly name: string;
  /** By which the build finds it; nobody else has it. */
  readonly tag: string;
}

interface CopyBases {
  readonly images: Pick<ImageSource, 'copy'>;
  readonly needed: readonly { readonly image: string; readonly line: number }[];
  readonly logins: CopyRequest['logins'];
  readonly directory: string;
  readonly file: string;
  readonly output: BuildOutput;
  readonly signal: AbortSignal;
}

/** Throws Failure `pull_failed`, `invalid_source`, `invalid_config` for what is no name. */
export async function bringBases({
  images,
  needed,
  logins,
  directory,
  file,
  output,
  signal,
}: CopyBases): Promise<DockerfileBase[]> {
  const bases: DockerfileBase[] = [];
  for (const [index, { image, line }] of needed.entries()) {
    const name = nameOf(image, file, line);
    const own = join(directory, `${index}`);
    await mkdir(own, { mode: 0o755 });
    output.say(`Pulling ${name.full}`);
    await images.copy({ image: name, logins, directory: own }, (text) => output.say(text), signal);
    bases.push({ image, name: `${index}`, tag: tagOf(name) });
  }
  return bases;
}

function nameOf(image: string, file: string, line: number): ImageName {
  try {
    return parseImageName(image);
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    throw new Failure('invalid_config', `${file} line ${line}: ${error.message}`, {
      hint: 'Give its variables values: ARG NAME=value before FROM, dockerfile.args in tancho.yaml, or tancho env set; then push again.',
    });
  }
}

function tagOf({ host, repository, reference }: ImageName): string {
  const place = host.replaceAll(':', '_').replaceAll(/[[\]]/g, '');
  return `localhost/${place}/${repository}:${reference.replace('sha256:', '').slice(0, 128)}`;
}

/** As a regular expression. */
const WORD_BEGINS = '(?<![\\w./:@-])';

/** The Dockerfile with its images by their tags, so that whatever they are called is found here or nowhere. */
export function rewritten(
  text: string,
  recipe: Recipe,
  bases: readonly DockerfileBase[],
  args: Readonly<Record<string, string>>,
): string {
  const tags = new Map(bases.map(({ image, tag }) => [image, tag]));
  const lines = text.split('\n');
  const replace = (from: number, written: string, before: string): void => {
    const tag = tags.get(expandedWith(recipe, args, written));
    if (tag === undefined) return;
    // As a word: the name of one may begin that of another.
    const word = new RegExp(`${before}${written.replace(/[^\w]/g, '\\$&')}(?![\\w./:@-])`);
    const at = lines.findIndex((line, index) => index >= from && word.test(line));
    if (at >= 0) lines[at] = (lines[at] ?? '').replace(word, (found) => found.slice(0, -written.length) + tag);
  };
  for (const [index, stage] of recipe.stages.entries()) {
    const earlier = recipe.stages.slice(0, index).map(({ name }) => name);
    if (!earlier.includes(stage.base.toLowerCase())) replace(stage.line - 1, stage.base, WORD_BEGINS);
    for (const from of stage.takes) {
      if (!earlier.includes(from.toLowerCase())) replace(stage.line - 1, from, 'from=');
    }
  }
  return lines.join('\n');
}
