/** A platform that an admin has added: a plan written down, followed as those of the languages that come with the program. */
import { PlatformError } from '../../domain/errors.ts';
import type { DependencySet, Tool } from '../build-plan.ts';
import { firstSign, type Language, type PlanParts } from '../language.ts';
import type { SourceFiles } from '../source/source-files.ts';
import { askedRange } from '../versions.ts';
import { YamlMistake } from '../yaml-node.ts';
import type { Conditional, Definition, When, WrittenDependencies, WrittenTool } from './definition.ts';
import { readDefinition } from './read-definition.ts';

const DOCKERFILE = /^\s*(?:#[^\n]*\n\s*|ARG\s[^\n]*\n\s*)*FROM\s+\S/i;
const ADDRESS = /^\s*https?:\/\/\S+\s*$/i;
const MAX_VERSION = 80;

/**
 * `inheritable`: the variables of the server that builds may be given. Throws PlatformError `platform.invalid_definition` with the
 * line and key of the mistake, `unsupported` for a Dockerfile.
 */
export function writtenLanguage(name: string, text: string, inheritable: ReadonlySet<string>): Language {
  if (DOCKERFILE.test(text) || ADDRESS.test(text)) {
    throw new PlatformError('unsupported', 'Platforms are not made of a Dockerfile here: apps run as processes.', {
      hint: 'Send a definition in YAML, as docs/platforms.md describes it.',
    });
  }
  try {
    return languageOf(name, readDefinition(`${name}.yaml`, text, inheritable));
  } catch (error) {
    if (!(error instanceof YamlMistake)) throw error;
    throw new PlatformError('platform.invalid_definition', error.message, {
      cause: error,
      hint: 'Platforms are described in docs/platforms.md.',
    });
  }
}

function languageOf(name: string, definition: Definition): Language {
  const { description, example, detect, inherit } = definition;
  return {
    name,
    description,
    example,
    signs: detect,
    tools: definition.tools.filter((tool) => tool.when === null).map((tool) => plainTool(tool)),
    inherit,
    ...(definition.options.length > 0 && { options: { section: name, keys: definition.options } }),
    detect: (files) => firstSign(files, { program: detect }),
    plan: (files) => planOf(name, definition, files),
  };
}

async function planOf(name: string, definition: Definition, files: SourceFiles): Promise<PlanParts> {
  const here = async <T>(parts: readonly Conditional<T>[]): Promise<Conditional<T>[]> => {
    const found: Conditional<T>[] = [];
    for (const part of parts) if (await holds(part.when, files)) found.push(part);
    return found;
  };
  const notes = (await here(definition.notes)).map(({ text }) => text);
  const tools: Tool[] = [];
  for (const tool of await here(definition.tools)) tools.push(await askedTool(tool, files, notes));
  const dependencies: DependencySet[] = [];
  for (const set of await here(definition.dependencies)) {
    const steps = await here(set.steps);
    if (steps.length > 0) dependencies.push({ ...(await dependenciesOf(set, files)), steps });
  }
  const processes = (await here(definition.processes)).map(({ name, command }) => [name, command] as const);
  return {
    title: name,
    tools,
    environment: await here(definition.environment),
    dependencies,
    steps: await here(definition.steps),
    // The first of a name counts.
    processes: Object.fromEntries(
      processes.reverse().map(([process, command]) => [process, { command, from: 'the platform' }]),
    ),
    notes,
  };
}

async function holds(when: When, files: SourceFiles): Promise<boolean> {
  return when === null || (await files.find(...when)) !== null;
}

async function dependenciesOf(set: WrittenDependencies, files: SourceFiles): Promise<Omit<DependencySet, 'steps'>> {
  const values: Record<string, unknown> = {};
  for (const [file, keys] of Object.entries(set.key.json)) {
    for (const key of keys) values[`${file}#${key}`] = (await files.jsonValue(file, key)) ?? null;
  }
  const never = set.neverKept === null ? null : await files.find(...set.neverKept);
  return {
    name: set.name,
    keep: set.keep,
    key: { files: set.key.files, values },
    neverKept: never === null ? null : `there is ${never}`,
  };
}

async function askedTool(tool: WrittenTool, files: SourceFiles, notes: string[]): Promise<Tool> {
  for (const { file, matches } of tool.asked) {
    const found = await files.findLine(file, matches);
    const text = found?.match[1]?.trim().slice(0, MAX_VERSION) ?? '';
    if (text === '') continue;
    const range = askedRange(text);
    if (range !== null) return { ...plainTool(tool), wanted: { range, text, from: file } };
    notes.push(`${file} asks for "${text}", which is no version of ${tool.program}; the one that is there is used`);
    break;
  }
  return plainTool(tool);
}

function plainTool({ program, version, minimum, check, install, runtime, others }: WrittenTool): Tool {
  return {
    program,
    install,
    ...(version !== undefined && { version }),
    ...(minimum !== undefined && { minimum }),
    ...(check !== undefined && { check }),
    ...(runtime !== undefined && { runtime }),
    ...(others !== undefined && { others }),
  };
}
