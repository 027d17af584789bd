/** docs/cli.md, made from the commands themselves; help.test.ts keeps the two in step. */
import type { Command } from 'commander';

const HEAD = `# The command line

\`tancho <noun> <verb>\`. Every command prints its use with \`--help\`, and its result as JSON with \`--json\`. Exit codes: 0 for success, 1 for a failure, 2 for wrong use; \`tancho app run\` ends with the code of the command it ran. Failures are reported on standard error, with what to do next.

**Which platform.** A command goes to \`--target <url>\`, else to \`TANCHO_TARGET\`, else to the platform you last logged in to, else to the server of this machine: its owner (whoever may open \`run/api.sock\` in \`TANCHO_HOME\`) needs no login. Logins are kept in \`~/.config/tancho/targets.json\`, readable by you only. \`TANCHO_TOKEN\` is used instead of the saved login's token.

**Which app.** \`-a <app>\`, else the app of the git remote \`tancho\` of the folder you are in; \`tancho app create\` adds that remote.`;

export function cliDocs(root: Command): string {
  return `${[HEAD, ...sections(root)].join('\n\n')}\n`;
}

function sections(command: Command): string[] {
  return command.commands.flatMap((one) => [
    `${'#'.repeat(depthOf(one) + 1)} \`${pathOf(one)}\``,
    `\`\`\`\n${helpOf(one)}\n\`\`\``,
    ...sections(one),
  ]);
}

function depthOf(command: Command): number {
  return command.parent === null ? 0 : 1 + depthOf(command.parent);
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/** Without the options that every command has. */
function helpOf(command: Command): string {
  let text = '';
  const { writeOut } = command.configureOutput();
  command.configureOutput({ writeOut: (piece) => (text += piece) });
  command.outputHelp();
  if (writeOut !== undefined) command.configureOutput({ writeOut });
  return text
    .replace(/\n\nGlobal Options:\n(?: {2,}.*\n)+/, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}
