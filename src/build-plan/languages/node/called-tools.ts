/** Tools that commands and scripts call by name: other package managers, bun, deno. They are fetched, as those of a lock file are. */
import type { PackageJson } from './package-json.ts';
import { scriptLines, withCalledScripts } from './script-lines.ts';

export const CALLED_TOOLS = ['yarn', 'pnpm', 'bun', 'deno'] as const;
export type CalledTool = (typeof CALLED_TOOLS)[number];

/** Of an installation or a build. */
const BUILD_SCRIPTS = ['preinstall', 'install', 'postinstall', 'prepare', 'heroku-postbuild', 'build'];
const ALIASES: Readonly<Record<string, CalledTool>> = { bunx: 'bun', yarnpkg: 'yarn', pnpx: 'pnpm', pnpm: 'pnpm' };
const MAX_COMMAND = 4_096;

export interface CalledTools {
  /** Tool -> the command in which it is called. */
  readonly byUnits: ReadonlyMap<CalledTool, string>;
  readonly byBuild: ReadonlyMap<CalledTool, string>;
}

/** `commands`: of the processes. */
export function calledTools(commands: readonly string[], packageJson: PackageJson): CalledTools {
  const building = BUILD_SCRIPTS.flatMap((name) => scriptLines(name, packageJson));
  return { byUnits: toolsIn(commands, packageJson), byBuild: toolsIn(building, packageJson) };
}

function toolsIn(commands: readonly string[], packageJson: PackageJson): Map<CalledTool, string> {
  const found = new Map<CalledTool, string>();
  for (const line of withCalledScripts(commands, packageJson)) {
    for (const part of line.slice(0, MAX_COMMAND).split(/&&|[;&|()"'`\n]/)) {
      const tool = toolOf(part);
      // The package is installed with the others.
      if (tool !== null && !found.has(tool) && !packageJson.wants(tool)) found.set(tool, line);
    }
  }
  return found;
}

/** The program of a simple command: behind assignments, and those that only run others. */
function toolOf(command: string): CalledTool | null {
  const words = command.trim().split(/\s+/);
  const program = words.find((word) => !/^(?:[A-Za-z_]\w*=.*|exec|env|time|cross-env|-\w+)$/.test(word)) ?? '';
  return (
    CALLED_TOOLS.find((tool) => tool === program) ??
    (Object.hasOwn(ALIASES, program) ? (ALIASES[program] ?? null) : null)
  );
}
