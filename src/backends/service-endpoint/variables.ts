/** Which variables of a provider can be given to an app: the rules of an app's own environment, and a bound on their number. */
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,254}$/;
/** Set by the platform. */
const RESERVED = /^(?:PORT|TANCHO_.*|TSURU_.*)$/;
const MAX_VARIABLES = 100;
const MAX_VALUE_BYTES = 65_536;

/** The variables, or what is wrong with them, in words that hold none of the values. */
export function checkVariables(entries: readonly (readonly [string, unknown])[]): Map<string, string> | string {
  if (entries.length > MAX_VARIABLES) return `more than ${MAX_VARIABLES} variables`;
  const variables = new Map<string, string>();
  for (const [name, value] of entries) {
    if (!NAME.test(name)) return 'a variable name that no environment can have';
    if (RESERVED.test(name)) return `the variable ${name}, which belongs to the platform`;
    if (typeof value !== 'string') return `a value of ${name} that is not text`;
    if (/\p{Surrogate}/u.test(value)) return `a value of ${name} that is no text in UTF-8`;
    if (value.includes('\0')) return `a value of ${name} that has a NUL in it`;
    if (Buffer.byteLength(value) > MAX_VALUE_BYTES) return `a value of ${name} of more than ${MAX_VALUE_BYTES} bytes`;
    if (variables.has(name)) return `the variable ${name} twice`;
    variables.set(name, value);
  }
  return variables;
}
