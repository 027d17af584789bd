/** An image that is built from a Dockerfile, and run as images are. */
import { PlatformError } from '../../../domain/errors.ts';
import { parseImageName } from '../../../domain/deploys/image-name.ts';
import type { ImageRecipe, PlannedProcess, PlanProblem, Tool } from '../../build-plan.ts';
import { type AppDeclaration, firstSign, type Language, type PlanParts } from '../../language.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import { NETWORK_VARIABLES } from '../network-variables.ts';
import { type Instruction, readInstructions } from './instructions.ts';
import { neededImages, readStages, type Recipe, targetOf } from './stages.ts';

export const DOCKERFILES = ['Dockerfile', 'Containerfile'] as const;

/** Its stages are compared with each other. */
const MAX_LENGTH = 256 * 1024;
const MAX_INSTRUCTIONS = 1_000;

const BUILDAH: Tool = {
  program: 'buildah',
  minimum: '1.28.0',
  install: {
    'apt-get': 'apt-get install buildah',
    apk: 'apk add buildah',
    dnf: 'dnf install buildah',
  },
};
const DOCKER: Tool = {
  program: 'docker',
  minimum: '20.10.0',
  install: {
    'apt-get': 'apt-get install docker.io',
    apk: 'apk add docker',
    dnf: 'dnf install docker-cli moby-engine',
    brew: 'brew install docker',
  },
};
const BUILDCTL: Tool = {
  program: 'buildctl',
  install: { apk: 'apk add buildctl', brew: 'brew install buildkit' },
};
const TOOLS = { buildah: BUILDAH, docker: DOCKER, buildkit: BUILDCTL } as const;
type BuiltBy = keyof typeof TOOLS;
const OPTIONS = {
  section: 'dockerfile',
  keys: [
    { key: 'file', variable: 'DOCKERFILE', description: 'the path of the Dockerfile, such as deploy/Dockerfile' },
    { key: 'target', variable: 'DOCKERFILE_TARGET', description: 'the stage that is built' },
    { key: 'args', variable: 'DOCKERFILE_ARGS', description: 'build arguments, such as "VERSION=2 MODE=small"' },
  ],
};

export const dockerfile = dockerfileBuiltBy('buildah');

export function dockerfileBuiltBy(by: BuiltBy): Language {
  return {
    name: 'dockerfile',
    description: 'An image built from a Dockerfile',
    example: 'my-server --port $PORT',
    signs: DOCKERFILES,
    tools: [TOOLS[by]],
    inherit: NETWORK_VARIABLES,
    options: OPTIONS,
    isAlone: true,
    detect: (files) => firstSign(files, { recipe: DOCKERFILES }),
    plan: (files, asked) => plan(files, asked, by),
  };
}

async function plan(files: SourceFiles, asked: AppDeclaration, by: BuiltBy): Promise<PlanParts> {
  const { DOCKERFILE: named = '', DOCKERFILE_TARGET: target = '', DOCKERFILE_ARGS: words = '' } = asked.options;
  const file = named === '' ? ((await files.find(...DOCKERFILES)) ?? DOCKERFILES[0]) : named.replace(/^\.\//, '');
  const text = isWithin(file) ? await files.text(file) : null;
  const args = argumentsOf(words);
  if (text === null) return { title: 'Dockerfile', tools: [TOOLS[by]], problems: [notThere(file)] };
  const instructions = text.length > MAX_LENGTH ? [] : readInstructions(text);
  if (text.length > MAX_LENGTH || instructions.length > MAX_INSTRUCTIONS)
    return { title: file, tools: [TOOLS[by]], problems: [tooLong(file)] };
  const recipe = readStages(instructions);
  const problems = [
    ...problemsOf(file, recipe, target),
    ...imageProblems(file, recipe, target, args ?? {}),
    ...(args === null ? [wrongArguments(words)] : []),
  ];
  const image: ImageRecipe = { file, target, args: args ?? {}, recipe, ownCommand: asked.processes === null };
  const last = targetOf(recipe, target);
  const started = last === null ? null : commandOf(recipe, last, file);
  const tool = by === 'buildah' ? buildahFor(file, instructions) : TOOLS[by];
  return {
    title: file,
    tools: [tool],
    image,
    processes: { web: started ?? { command: '(that of the base image)', from: file } },
    notes: notesOf(recipe, target, args ?? {}),
    warnings: asked.buildsItself
      ? [`hooks.build and the build command are not run: ${file} says how it is built.`]
      : [],
    problems,
  };
}

/** Within the source: no link or `..` leads out of it, for the reader follows none. */
function isWithin(file: string): boolean {
  return !file.startsWith('/') && file.split('/').every((part) => part !== '' && part !== '..' && part !== '.');
}

function argumentsOf(words: string): Record<string, string> | null {
  const pairs = words.split(/\s+/).filter((word) => word !== '');
  if (!pairs.every((pair) => /^[A-Za-z_]\w*=/.test(pair))) return null;
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]));
}

/** Of the stage or of those it begins with. */
function commandOf({ stages }: Recipe, index: number, file: string): PlannedProcess | null {
  for (let at: number | undefined = index; at !== undefined;) {
    const stage: Recipe['stages'][number] | undefined = stages[at];
    const said = stage?.cmd ?? stage?.entrypoint ?? null;
    if (stage === undefined) return null;
    if (said !== null) {
      const both = [stage.entrypoint?.text ?? '', stage.cmd?.text ?? ''].filter((text) => text !== '');
      return { command: both.join(' '), from: `${said.name} in ${file} line ${said.line}` };
    }
    const base = stage.base.toLowerCase();
    const earlier = stages.findIndex(({ name }) => name !== '' && name === base);
    at = earlier >= 0 && earlier < at ? earlier : undefined;
  }
  return null;
}

/** Since 1.35 it knows here-documents. */
function buildahFor(file: string, instructions: readonly Instruction[]): Tool {
  const found = instructions.find((one) => one.heredoc !== '');
  if (found === undefined) return BUILDAH;
  const neededFor: PlanProblem = {
    cause: 'invalid_config',
    message: `${file} line ${found.line} has a here-document (${found.heredoc}), which the buildah of this server does not know.`,
    hint: 'Put it into a file and COPY that, or write it as one RUN with && between the commands; then push again. Or ask the operator for a newer buildah.',
  };
  return { ...BUILDAH, minimum: '1.35.0', neededFor };
}

function problemsOf(file: string, recipe: Recipe, target: string): PlanProblem[] {
  const wrong = (message: string, hint: string): PlanProblem => ({ cause: 'invalid_config', message, hint });
  if (recipe.stages.length === 0) {
    return [
      wrong(
        `${file} has no FROM, which says what it begins with.`,
        `Begin ${file} with FROM <image> or FROM scratch and push again.`,
      ),
    ];
  }
  const stages = recipe.stages.map(({ name }, at) => (name === '' ? String(at) : name));
  const bare = recipe.stages.find(({ base }) => base === '');
  return [
    ...(bare === undefined
      ? []
      : [
          wrong(
            `${file} line ${bare.line}: FROM needs the name of one image.`,
            'Write FROM <image> or FROM <image> AS <name> there and push again.',
          ),
        ]),
    ...(targetOf(recipe, target) === null
      ? [
          wrong(
            `${file} has no stage called ${target}.`,
            `Name another one as dockerfile.target in tancho.yaml and push again; its stages are: ${stages.join(', ')}.`,
          ),
        ]
      : []),
  ];
}

/** Names with variables are judged by who knows the environment of the app. */
function imageProblems(
  file: string,
  recipe: Recipe,
  target: string,
  args: Readonly<Record<string, string>>,
): PlanProblem[] {
  const written = new Set(recipe.stages.flatMap(({ base, takes }) => [base, ...takes]));
  return neededImages(recipe, target, args).flatMap(({ image, line }) => {
    if (!written.has(image) || image === '' || isName(image)) return [];
    const message = `${file} line ${line}: ${JSON.stringify(image.slice(0, 100))} is not the name of an image.`;
    return [
      {
        cause: 'invalid_config',
        message,
        hint: `Write it as registry.example.com/team/app:tag in ${file} and push again.`,
      } as const,
    ];
  });
}

function isName(image: string): boolean {
  try {
    parseImageName(image);
    return true;
  } catch (error) {
    if (error instanceof PlatformError) return false;
    throw error;
  }
}

function notesOf(recipe: Recipe, target: string, args: Readonly<Record<string, string>>): string[] {
  const images = neededImages(recipe, target, args)
    .map(({ image }) => image)
    .filter(isName);
  return images.length === 0 ? [] : [`Begins with ${images.join(', ')}`];
}

function notThere(file: string): PlanProblem {
  return {
    cause: 'invalid_config',
    message: `There is no ${file} in the source.`,
    hint: 'Name the one there is in tancho.yaml: dockerfile: { file: deploy/Dockerfile }   and push again.',
  };
}

function tooLong(file: string): PlanProblem {
  return {
    cause: 'invalid_config',
    message: `${file} has more than ${MAX_LENGTH / 1024} KiB or ${MAX_INSTRUCTIONS} instructions.`,
    hint: `Move what it does into files that ${file} copies, or put several instructions into one, and push again.`,
  };
}

function wrongArguments(words: string): PlanProblem {
  return {
    cause: 'invalid_config',
    message: `dockerfile.args is ${JSON.stringify(words.slice(0, 100))}, which is no list of NAME=value.`,
    hint: 'Write for example args: VERSION=2 MODE=small in the section dockerfile of tancho.yaml and push again.',
  };
}
