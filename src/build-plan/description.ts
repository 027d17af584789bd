/** A build plan in words: the short form that a push prints, and the long one of `tancho build plan`. */
import type { BuildPlan, Tool } from './build-plan.ts';

const MAX_LINES = 3;

/** What runs in the build and afterwards, in a few lines. */
export function describeBriefly(plan: BuildPlan): string[] {
  const names = Object.keys(plan.processes);
  if (names.length <= MAX_LINES) return describeRun(plan);
  return [...describeRun({ ...plan, processes: {} }), `Processes: ${names.join(', ')}`];
}

/** What runs in the build and afterwards, one line for each process. */
function describeRun({ dependencies, steps, processes }: BuildPlan): string[] {
  const names = [...dependencies.flatMap((set) => set.steps), ...steps].map(({ name }) => name);
  const runs = Object.entries(processes).map(([name, { command, from }]) => `${name}: ${command} (${from})`);
  return [...(names.length === 0 ? [] : [`Steps: ${names.join(', ')}`]), ...runs.map((run) => `Process ${run}`)];
}

export function describePlan(plan: BuildPlan): string[] {
  const { platform, title, tools, notes, warnings, problems } = plan;
  return [
    `Platform ${platform}: ${title}`,
    ...tools.map((tool) => `Tool ${describeTool(tool)}`),
    ...describeRun(plan),
    ...plan.newVariables.map(
      ({ name, value, from }) =>
        `Variable ${name}: ${typeof value === 'string' ? value : 'generated'} where there is none (${from})`,
    ),
    ...notes.map((text) => `Note: ${text}`),
    ...warnings.map((text) => `Warning: ${text}`),
    ...problems.map(({ cause, message, hint }) => `Problem (${cause}): ${message} ${hint}`),
  ];
}

function describeTool({ program, wanted = null, download = null, minimum }: Tool): string {
  if (wanted !== null) return `${program} ${wanted.text} (${wanted.from})`;
  if (download?.otherwise != null) return `${program}, the server's own, else ${download.otherwise}`;
  return `${program}, the server's own${minimum === undefined ? '' : `, at least ${minimum}`}`;
}
