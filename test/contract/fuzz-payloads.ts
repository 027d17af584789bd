/** What nobody should send: texts that break out of shells, paths, options, encodings and limits. */
import fc from 'fast-check';

const MEGABYTE = 1_000_000;

/** `canary`: a file that must never come to be; the payloads try to make it. */
export function payloads(canary: string): string[] {
  return [
    `$(touch ${canary})`,
    `\`touch ${canary}\``,
    `;touch ${canary};`,
    `x & touch ${canary} &`,
    `| touch ${canary}`,
    `a\ntouch ${canary}\n`,
    `' ; touch ${canary} ; '`,
    `" ; touch ${canary} ; "`,
    `--upload-pack=touch ${canary}`,
    `--exec=touch ${canary}`,
    `--output=${canary}`,
    `-oProxyCommand=touch ${canary}`,
    '--help',
    '-',
    '--',
    '\u0000',
    'a\u0000b',
    '../../../../etc/passwd',
    '..',
    '.',
    '/etc/passwd',
    '....//....//',
    '%2e%2e%2f',
    '%00',
    '%zz%',
    '\r\nset-cookie: x=1\r\n',
    '\u202etxt.exe',
    '\ud800',
    'ﬀÅİ\u0301',
    '🦩'.repeat(300),
    'a'.repeat(5_000),
    '{"$ne":null}',
    '[[[[[[',
    "' OR '1'='1",
    '__proto__',
    'constructor',
    'null',
    '-1',
    '1e309',
    '99999999999999999999',
    '0x7f',
    ' ',
    '\t',
    '*',
    '#',
    '?',
    '<script>alert(1)</script>',
  ];
}

export const ENORMOUS = 'x'.repeat(MEGABYTE);

/** Path parts as they are written, beside the encoded payloads. */
export const RAW_PARTS = ['%', '%zz', '%c0%af', '%00', '..%2f..%2f', '%2e%2e', '%ff', '%25', '%E2%28%A1', '..%5c'];

/** Other texts of no sense, the same ones for the same seed. */
export function nonsense(seed: number, count: number): string[] {
  return fc.sample(fc.string({ unit: 'binary', maxLength: 60 }), { seed, numRuns: count });
}

/** Of every kind, for the kinds are together: about `count` texts, others with the next seed, all of them after some seeds. */
export function pick<T>(from: readonly T[], count: number, seed: number): T[] {
  const step = Math.max(1, Math.floor(from.length / count));
  return from.filter((_, at) => at % step === seed % step);
}
