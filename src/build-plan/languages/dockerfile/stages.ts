/** Pure: the stages of a Dockerfile, what each begins with, and which images are needed for them. */
import type { Instruction } from './instructions.ts';

interface Stage {
  /** '' without one. */
  readonly name: string;
  /** As it is written, with its variables. */
  readonly base: string;
  readonly line: number;
  /** Further images and stages that it takes files from, as written. */
  readonly takes: readonly string[];
  readonly cmd: Instruction | null;
  readonly entrypoint: Instruction | null;
}

export interface Recipe {
  readonly stages: readonly Stage[];
  /** Name -> default of the arguments before the first stage, '' for none; variables of bases are made of them. */
  readonly globals: Readonly<Record<string, string>>;
  /** Every name that a build argument may have. */
  readonly args: readonly string[];
}

const MAX_WORD = 1_000;
const FROM = /^(?:--platform=\S+\s+)?(\S+)(?:\s+AS\s+(\S+))?\s*$/i;
const VARIABLE = /\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?:(:?[-+])([^}]*))?\})/g;

export function readStages(instructions: readonly Instruction[]): Recipe {
  const stages: Stage[] = [];
  const globals: Record<string, string> = {};
  const args = new Set<string>();
  for (const instruction of instructions) {
    const { name, text, line } = instruction;
    const stage = stages.at(-1);
    if (name === 'ARG') {
      for (const [key, value] of argumentsOf(text)) {
        args.add(key);
        if (stage === undefined) globals[key] = expanded(value, globals);
      }
    } else if (name === 'FROM') {
      const [, base = '', alias = ''] = FROM.exec(text) ?? [];
      stages.push({ name: alias.toLowerCase(), base, line, takes: [], cmd: null, entrypoint: null });
    } else if (stage !== undefined) {
      stages[stages.length - 1] = withInstruction(stage, instruction);
    }
  }
  return { stages, globals, args: [...args] };
}

function withInstruction(stage: Stage, instruction: Instruction): Stage {
  const { name, text } = instruction;
  if (name === 'CMD') return { ...stage, cmd: instruction };
  // A new entrypoint does away with the command of the base, but not with one that follows.
  if (name === 'ENTRYPOINT') return { ...stage, entrypoint: instruction };
  if (!['COPY', 'ADD', 'RUN'].includes(name)) return stage;
  const [flags = ''] = /^(?:--\S+\s+)*/.exec(text) ?? [];
  return {
    ...stage,
    takes: [...stage.takes, ...flags.split(/\s+/).flatMap(name === 'RUN' ? mountedFrom : copiedFrom)],
  };
}

function copiedFrom(flag: string): string[] {
  return valuesOf([flag], '--from=');
}

/** `--mount=type=bind,from=image,target=/a`. */
function mountedFrom(flag: string): string[] {
  return valuesOf(
    valuesOf([flag], '--mount=').flatMap((options) => options.split(',')),
    'from=',
  );
}

function valuesOf(words: readonly string[], begin: string): string[] {
  return words.filter((word) => word.startsWith(begin) && word !== begin).map((word) => word.slice(begin.length));
}

/** Of `ARG A=1 B="x y" C`. */
function argumentsOf(text: string): [string, string][] {
  const words = text.match(/[A-Za-z_]\w*(?:=(?:"[^"]*"|'[^']*'|[^\s"']+)*)?/g) ?? [];
  return words.map((word) => {
    const [, key = '', value = ''] = /^(\w+)(?:=(.*))?$/s.exec(word) ?? [];
    return [key, value.replace(/^(["'])(.*)\1$/s, '$2')];
  });
}

/** The stage that is built: the one that is named, by name or number, else the last; null when there is none of the name. */
export function targetOf({ stages }: Recipe, target: string): number | null {
  if (target === '') return stages.length === 0 ? null : stages.length - 1;
  const named = stages.findIndex(({ name }) => name === target.toLowerCase());
  if (named >= 0) return named;
  return /^\d{1,3}$/.test(target) && Number(target) < stages.length ? Number(target) : null;
}

/** Images that the stages up to the target need, with the line that names each first; `given`: build arguments. */
export function neededImages(
  recipe: Recipe,
  target: string,
  given: Readonly<Record<string, string>>,
): { readonly image: string; readonly line: number }[] {
  const last = targetOf(recipe, target) ?? -1;
  const found = new Map<string, number>();
  for (const [index, { base, takes, line }] of recipe.stages.slice(0, last + 1).entries()) {
    const earlier = recipe.stages.slice(0, index).map(({ name }) => name);
    const isStage = (text: string): boolean => earlier.includes(text.toLowerCase()) || /^\d+$/.test(text);
    for (const text of [base, ...takes]) {
      const image = expandedWith(recipe, given, text);
      if (image !== 'scratch' && !isStage(image) && !found.has(image)) found.set(image, line);
    }
  }
  return [...found].map(([image, line]) => ({ image, line }));
}

/** One name of an image, as it is meant with these build arguments. */
export function expandedWith(recipe: Recipe, given: Readonly<Record<string, string>>, text: string): string {
  return expanded(text, { ...recipe.globals, ...pick(given, Object.keys(recipe.globals)) });
}

function pick(values: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (Object.hasOwn(values, name) ? [[name, values[name] ?? '']] : [])));
}

/** What is too long to be the name of an image stays as it is; of arguments that double each other it would be more than there is memory. */
function expanded(text: string, values: Readonly<Record<string, string>>): string {
  if (text.length > MAX_WORD) return text;
  let length = text.length;
  const whole = text.replace(VARIABLE, (_, plain?: string, braced?: string, rule?: string, other = '') => {
    const value = valueOf(values, plain ?? braced ?? '', rule ?? '', other);
    length += value.length;
    return length > MAX_WORD ? '' : value;
  });
  return length > MAX_WORD ? text : whole;
}

function valueOf(values: Readonly<Record<string, string>>, name: string, rule: string, other: string): string {
  const value = Object.hasOwn(values, name) ? (values[name] ?? '') : '';
  const isSet = rule.startsWith(':') ? value !== '' : Object.hasOwn(values, name);
  if (rule.endsWith('-')) return isSet ? value : other;
  if (rule.endsWith('+')) return isSet ? other : '';
  return value;
}
