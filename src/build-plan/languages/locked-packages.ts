/** Cargo.lock, uv.lock, poetry.lock and pdm.lock: tools write them in one way, and large ones take a parser of TOML seconds. */

const MAX_LINE = 1_000;

/** Name -> versions, of each `[[package]]`. */
export function lockedPackages(text: string): ReadonlyMap<string, readonly string[]> {
  const locked = new Map<string, string[]>();
  let isPackage = false;
  let name = '';
  for (const whole of text.split(/\r?\n/)) {
    const line = whole.slice(0, MAX_LINE);
    if (line.startsWith('[')) {
      isPackage = /^\[\[package\]\]\s*$/.test(line);
      name = '';
    }
    const [, key, value = ''] = (isPackage && /^(name|version)\s*=\s*"([^"]*)"/.exec(line)) || [];
    if (key === 'name') {
      name = value;
      locked.set(name, locked.get(name) ?? []);
    } else if (key === 'version') locked.get(name)?.push(value);
  }
  return locked;
}
