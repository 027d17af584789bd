/** Command lines and the scripts of package.json that they run. */
import type { PackageJson } from './package-json.ts';

const SCRIPT =
  /\b(?:npm|yarn|pnpm|bun)(?:\s+(?:run|run-script|-\S+|exec))*\s+([\w:.-]+)|\bnode\s+--run[\s=]([\w:.-]+)/g;
const MAX_COMMAND = 4_096;

/** The lines, and those of the scripts that they run; each script once. */
export function withCalledScripts(commands: readonly string[], packageJson: PackageJson): string[] {
  const lines = [...commands];
  const seen = new Set<string>();
  for (let index = 0; index < lines.length; index += 1) {
    const text = (lines[index] ?? '').slice(0, MAX_COMMAND);
    for (const [, byManager, byNode] of text.matchAll(SCRIPT)) {
      const script = byManager ?? byNode ?? '';
      if (seen.has(script)) continue;
      seen.add(script);
      lines.push(...scriptLines(script, packageJson));
    }
  }
  return lines;
}

/** With those that run before and after it. */
export function scriptLines(name: string, { scripts }: PackageJson): string[] {
  return [`pre${name}`, name, `post${name}`].flatMap((each) => {
    const line = scripts[each];
    return line === undefined ? [] : [line];
  });
}
