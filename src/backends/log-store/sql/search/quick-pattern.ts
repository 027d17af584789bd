/**
 * Pure: a regular expression of RE2 as one of JavaScript that finds at least what it finds, in many lines at once; null for what is not
 * surely the same there. JavaScript's engine is many times faster, but can take for ever, so whoever uses it can be ended.
 */

const CLASSES: Readonly<Record<string, string>> = {
  d: '\\d',
  D: '\\D',
  w: '\\w',
  W: '\\W',
  s: '[\\t\\n\\f\\r ]',
  S: '[^\\t\\n\\f\\r ]',
  b: '\\b',
  B: '\\B',
  A: '^',
  z: '$',
};
const IN_CLASS: Readonly<Record<string, string>> = { d: '\\d', w: '\\w', s: '\\t\\n\\f\\r ' };
const CONTROLS: ReadonlySet<string> = new Set(['n', 't', 'r', 'f', 'v']);
const PUNCTUATION = /^[!-/:-@[-`{-~]$/;
const QUANTIFIER = /\{\d+(?:,\d*)?\}/y;
const ANY_CASE = '(?i)';

export function quickPattern(pattern: string): RegExp | null {
  const isAnyCase = pattern.startsWith(ANY_CASE);
  const source = new Translation(isAnyCase ? pattern.slice(ANY_CASE.length) : pattern).whole();
  if (source === null) return null;
  try {
    return new RegExp(source, isAnyCase ? 'gmui' : 'gmu');
  } catch {
    return null;
  }
}

class Translation {
  readonly #pattern: string;
  #at = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  whole(): string | null {
    let source = '';
    while (this.#at < this.#pattern.length) {
      const piece = this.#piece();
      if (piece === null) return null;
      source += piece;
    }
    return source;
  }

  #piece(): string | null {
    const character = this.#character();
    switch (character) {
      case '\\':
        return this.#escape(CLASSES);
      case '[':
        return this.#class();
      case '(':
        return this.#group();
      case '.':
        return '[^\\n]';
      case '{':
        return this.#counted();
      case ']':
      case '}':
        return `\\${character}`;
      default:
        return character;
    }
  }

  #character(): string {
    const character = String.fromCodePoint(this.#pattern.codePointAt(this.#at) ?? 0);
    this.#at += character.length;
    return character;
  }

  #escape(classes: Readonly<Record<string, string>>): string | null {
    const character = this.#character();
    if (CONTROLS.has(character)) return `\\${character}`;
    if (PUNCTUATION.test(character)) return literal(character);
    return classes[character] ?? null;
  }

  #group(): string | null {
    const rest = this.#pattern.slice(this.#at);
    if (!rest.startsWith('?')) return '(?:';
    const kind = /^\?(?::|P?<\w+>)/.exec(rest)?.[0];
    if (kind === undefined) return null;
    this.#at += kind.length;
    return '(?:';
  }

  #counted(): string {
    QUANTIFIER.lastIndex = this.#at - 1;
    const quantifier = QUANTIFIER.exec(this.#pattern)?.[0];
    if (quantifier === undefined) return '\\{';
    this.#at += quantifier.length - 1;
    return quantifier;
  }

  #class(): string | null {
    let source = '[';
    if (this.#pattern[this.#at] === '^') {
      source += '^';
      this.#at += 1;
    }
    for (let isFirst = true; this.#at < this.#pattern.length; isFirst = false) {
      const character = this.#character();
      if (character === ']' && !isFirst) return `${source}]`;
      // Named classes, and what the two understand differently.
      if (character === '[') return null;
      const piece = character === '\\' ? this.#escape(IN_CLASS) : character === '-' ? '-' : literal(character);
      if (piece === null) return null;
      source += piece;
    }
    return null;
  }
}

function literal(character: string): string {
  return /[\^$\\.*+?()[\]{}|/-]/.test(character) ? (character === '-' ? '\\x2d' : `\\${character}`) : character;
}
