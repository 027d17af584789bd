/** Which program a command line starts, behind what only prepares it or runs it in an environment. */

/** Their `run` is that of the environment which the build has made. */
export const RUNNERS = ['uv', 'poetry', 'pipenv'] as const;
export type Runner = (typeof RUNNERS)[number];

const PREPARING = /^(?:[A-Za-z_]\w*=.*|exec|env|time|-\S+)$/;
const MAX_COMMAND = 4_096;

/** `A=1 exec poetry run python -m gunicorn app` -> `gunicorn`; '' when there is none. */
export function calledProgram(command: string): string {
  const words = command.slice(0, MAX_COMMAND).trim().split(/\s+/);
  for (;;) {
    while (PREPARING.test(words[0] ?? '')) words.shift();
    const [first = '', second = ''] = words;
    if (RUNNERS.some((name) => name === first) && second === 'run') words.splice(0, 2);
    else if (/^python[\d.]*$/.test(first) && second === '-m') words.splice(0, 2);
    else return first;
  }
}

/** `uv run` and the like, in one of the commands. */
export function calledRunners(commands: readonly string[]): Runner[] {
  return RUNNERS.filter((name) =>
    commands.some((command) => new RegExp(`(?:^|[\\s;&|("'])${name}\\s+run\\b`).test(command.slice(0, MAX_COMMAND))),
  );
}
