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

/** Nothing but the call of a script, with options of its own behind it. */
const CALL =
  /^(?:(?:npm|pnpm|bun|yarn)\s+(?:run|run-script)\s+|(?:yarn|pnpm)\s+|npm\s+(?=start$))([\w:.-]+)(?:\s+-[\w=./:-]*)*$/;
const MAX_CALLS = 5;

/** What a script comes to that does nothing but call another one, which may do the same. */
export function calledLine(name: string, { scripts }: PackageJson): string {
  let line = (scripts[name] ?? '').trim();
  for (let calls = 0; calls < MAX_CALLS; calls += 1) {
    const called = scripts[CALL.exec(line.slice(0, MAX_COMMAND))?.[1] ?? '']?.trim() ?? '';
    if (called === '') break;
    line = called;
  }
  return line;
}
