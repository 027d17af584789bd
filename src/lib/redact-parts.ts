/** Replaces what of secrets lies across the cuts of a line that comes in parts: whole ones within a part are a matter of the redactor. */
import { MASK } from './redact.ts';

/** Of one line, in their order. */
export interface Part {
  readonly text: string;
  /** The part before it is of the same line. */
  readonly continues?: boolean;
  /** The next one may be. */
  readonly goesOn?: boolean;
}

/** What ends a part and begins a secret is taken for one, for the rest is not known yet; shorter beginnings stay. */
const SHORTEST_BEGINNING = 4;

type Range = readonly [from: number, to: number];

export class PartRedactor {
  readonly #forms: readonly string[];
  readonly #longest: number;
  /** The end of the line so far, as it was printed; whoever reads something once more sets it back. */
  before = '';

  /** `forms`: the longest first, see secretForms(). */
  constructor(forms: readonly string[]) {
    this.#forms = forms;
    this.#longest = forms[0]?.length ?? 0;
  }

  redact({ text, continues = false, goesOn = false }: Part): string {
    if (!continues) this.before = '';
    if (this.before === '' && !goesOn) return text;
    const across = this.before === '' ? [] : this.#forms.flatMap((form) => this.#across(form, text));
    const begun = goesOn ? this.#forms.flatMap((form) => this.#begun(form, text)) : [];
    this.before = goesOn && this.#longest > 1 ? (this.before + text).slice(1 - this.#longest) : '';
    return masked(text, [...across, ...begun]);
  }

  /** Where in the text a secret ends that has begun before it. */
  #across(form: string, text: string): Range[] {
    const before = this.before.slice(-(form.length - 1));
    const around = before + text.slice(0, form.length - 1);
    const found: Range[] = [];
    for (let at = around.indexOf(form); at >= 0; at = around.indexOf(form, at + 1)) {
      if (at < before.length) found.push([0, Math.min(at + form.length - before.length, text.length)]);
    }
    return found;
  }

  /** Where in the text a secret may begin, or go on, that has not ended yet. */
  #begun(form: string, text: string): Range[] {
    const end = (this.before + text).slice(-(form.length - 1));
    const beginning = form.slice(0, SHORTEST_BEGINNING);
    for (let at = end.indexOf(beginning); at >= 0; at = end.indexOf(beginning, at + 1)) {
      if (!form.startsWith(end.slice(at))) continue;
      return [[Math.max(text.length - (end.length - at), 0), text.length]];
    }
    return [];
  }
}

function masked(text: string, ranges: readonly Range[]): string {
  let [result, done] = ['', 0];
  for (const [from, to] of [...ranges].sort(([a], [b]) => a - b)) {
    if (to <= done) continue;
    // Where they overlap they are one.
    result += from < done ? '' : text.slice(done, from) + MASK;
    done = to;
  }
  return result + text.slice(done);
}
