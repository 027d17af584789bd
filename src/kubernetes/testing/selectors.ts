/** Test support: selectors of labels and fields, as the API writes them. */
import type { StoredObject } from './stored-objects.ts';

export function isSelected(object: StoredObject, labels: string | null, fields: string | null): boolean {
  return hasLabels(object.metadata.labels ?? {}, labels ?? '') && hasFields(object, fields ?? '');
}

function hasLabels(labels: Readonly<Record<string, string>>, selector: string): boolean {
  // Commas within parentheses separate values.
  return (selector.match(/[^,(]+(?:\([^)]*\))?/g) ?? []).every((term) => isMet(labels, term.trim()));
}

function isMet(labels: Readonly<Record<string, string>>, term: string): boolean {
  const among = /^(\S+) (in|notin) \(([^)]*)\)$/.exec(term);
  if (among !== null) {
    const [, key = '', operator, values = ''] = among;
    const isOne = values
      .split(',')
      .map((value) => value.trim())
      .includes(labels[key] ?? '\0');
    return (operator === 'in') === isOne;
  }
  const compared = /^([^=!]+)(!=|==?)(.*)$/.exec(term);
  if (compared !== null) {
    const [, key = '', operator, value] = compared;
    return (labels[key] === value) === (operator !== '!=');
  }
  return term.startsWith('!') ? labels[term.slice(1)] === undefined : labels[term] !== undefined;
}

function hasFields(object: StoredObject, selector: string): boolean {
  return selector
    .split(',')
    .filter((term) => term !== '')
    .every((term) => {
      const [path = '', value = ''] = term.split('=');
      const found = path
        .split('.')
        .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], object);
      return String(found ?? '') === value;
    });
}
