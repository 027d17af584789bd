/** Replaces what of secrets lies across the cuts of a line that comes in parts: whole ones within a part are a matter of the redactor. */
import { type Occurrences, type Range, withReplaced } from './occurrences.ts';
import { MASK, occurrencesOf } from './redact.ts';

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

export class PartRedactor {
  readonly #forms: readonly string[];
  readonly #longest: number;
  readonly #occurrences: Occurrences;
  /** The end of the line so far, as it was printed; whoever reads something once more sets it back. */
  before = '';

  /** `forms`: the longest first, see secretForms(). */
  constructor(forms: readonly string[]) {
    this.#forms = forms;
    this.#longest = forms[0]?.length ?? 0;
    this.#occurrences = occurrencesOf(forms);
  }

  redact({ text, continues = false, goesOn = false }: Part): string {
    if (!continues) this.before = '';
    if (this.before === '' && !goesOn) return text;
    const across = Math.min(this.#occurrences.across(this.before, text), text.length);
    const end = this.#longest > 1 ? (this.before + text).slice(1 - this.#longest) : '';
    const begun = goesOn ? this.#forms.flatMap((form) => this.#begun(form, text, end)) : [];
    this.before = goesOn ? end : '';
    return withReplaced(text, [...(across > 0 ? [[0, across] as const] : []), ...begun], MASK);
  }

  /** Where in the text a secret may begin, or go on, that has not ended yet. */
  #begun(form: string, text: string, longestEnd: string): Range[] {
    const end = longestEnd.slice(-(form.length - 1));
    const beginning = form.slice(0, SHORTEST_BEGINNING);
    for (let at = end.indexOf(beginning); at >= 0; at = end.indexOf(beginning, at + 1)) {
      if (!form.startsWith(end.slice(at))) continue;
      return [[Math.max(text.length - (end.length - at), 0), text.length]];
    }
    return [];
  }
}
