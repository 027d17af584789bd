/** Pure: what people write about the version of a language -> a range of versions. */
import { validRange } from 'semver';

/** Of longer ranges all versions there are would be compared with too many parts. */
export const MAX_RANGE = 500;

/**
 * `3.12`, `3.12.1` (any 3.12 will do), `>=3.10,<3.13`, `==3.11.*`, `~=3.10`, `^3.11`. Null when it is something else, such as the
 * name of another implementation.
 */
export function askedRange(text: string): string | null {
  if (text.length > MAX_RANGE) return null;
  const parts = text.split(',').map((part) => part.trim());
  const ranges = parts.map(oneRange);
  if (ranges.includes(null)) return text.includes('||') ? validRange(text) : null;
  return validRange(ranges.filter((range) => range !== '').join(' '));
}

function oneRange(part: string): string | null {
  const found = /^(===?|~=|!=|>=|<=|>|<|\^|~)?\s*v?(\d+(?:\.\d+){0,2})(?:\.\*)?$/.exec(part);
  if (found === null) return null;
  const [, operator = '==', version = ''] = found;
  const [major = '', minor] = version.split('.');
  switch (operator) {
    case '==':
    case '===':
      return minor === undefined ? `${major}.x` : `${major}.${minor}.x`;
    case '~=':
      // The last number that is named may grow.
      return version.split('.').length > 2 ? `~${version}` : `^${version}`;
    case '!=':
      return '';
    default:
      return `${operator}${version}`;
  }
}
