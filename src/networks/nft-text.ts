/** Pure: tables, and what is in them, as nft reads them. */

/** Replaces a table as a whole, in one transaction. */
export function whole(name: string, parts: readonly string[]): string {
  return [`table ip ${name}`, `delete table ip ${name}`, `table ip ${name} {`, ...parts, '}', ''].join('\n');
}

/** Lines of a set or chain that say what it is, not what is in it. */
const KIND = /^    (?:type|flags|auto-merge)\b/;

/**
 * Makes a table as whole() does, but deletes neither it nor its sets and maps: a packet that is being judged at that moment goes by the rules of before, and
 * finds nothing any more in a map that is deleted, so it would be refused (in some hundred changes one connection between units of an app). Chains that are
 * not used any more stay, without rules.
 */
export function renewed(name: string, parts: readonly string[]): string {
  const declared = parts.map((part) =>
    part
      .split('\n')
      .filter((line) => !line.startsWith('    ') || KIND.test(line))
      .join('\n'),
  );
  const kept = parts.flatMap((part) => /^  (set|map) (\w+) /.exec(part)?.slice(1).join(` ip ${name} `) ?? []);
  return [
    ...[`table ip ${name} {`, ...declared, '}', `flush table ip ${name}`, ...kept.map((one) => `flush ${one}`)],
    ...[`table ip ${name} {`, ...parts, '}', ''],
  ].join('\n');
}

/** For one that cannot be kept: of another version of this program. */
export function anew(rules: string): string {
  const [table = ''] = /^table ip \w+/.exec(rules) ?? [];
  return `${table}\ndelete ${table}\n${rules}`;
}

/** Flags of a set of networks that may overlap. */
export const NETWORKS = ['flags interval', 'auto-merge'];

export function set(name: string, type: string, elements: readonly string[], flags: readonly string[] = []): string {
  return listed('set', name, type, elements, flags);
}

export function map(name: string, type: string, elements: readonly string[]): string {
  return listed('map', name, type, elements, []);
}

function listed(
  kind: 'set' | 'map',
  name: string,
  type: string,
  elements: readonly string[],
  flags: readonly string[],
): string {
  const lines = [`type ${type}`, ...flags];
  if (elements.length > 0) lines.push(`elements = { ${[...new Set(elements)].join(', ')} }`);
  return [`  ${kind} ${name} {`, ...lines.map((line) => `    ${line}`), '  }'].join('\n');
}

export function chain(name: string, rules: readonly string[]): string {
  return [`  chain ${name} {`, ...rules.map((rule) => `    ${rule}`), '  }'].join('\n');
}
