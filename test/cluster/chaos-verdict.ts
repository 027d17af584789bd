/** Pure: whether a request was lost because it was under way in what was killed. */
import type { LostRequest } from './balanced-load.ts';
import type { Kill } from './kills.ts';

export function isExcused(request: LostRequest, kill: Kill): boolean {
  if (request.ended < kill.begun) return false;
  if (kill.hasUnits && request.begun <= kill.gone) return true;
  // What is sent by a connection to an edge that is gone is lost, whenever who sends it hears of that.
  return kill.edge === request.edge && (request.connected ?? request.begun) <= kill.gone;
}

/** One line for all that were lost in the same way, for people: `still by edge 0, 12 times from 3.1 s on: 502 Bad Gateway`. */
export function describeLost(lost: readonly LostRequest[], kills: readonly Kill[]): string[] {
  const [first = 0] = kills.map(({ begun }) => begun);
  const seconds = (ms: number): string => ((ms - first) / 1_000).toFixed(1);
  const kindOf = ({ app, edge, why }: LostRequest): string =>
    `${app} by edge ${edge}: ${why
      .replace(/request: .*/, '')
      .split('\n')
      .slice(0, 2)
      .join(' ')}`;
  const groups = [...Map.groupBy(lost, kindOf)].map(([kind, all]) => {
    const begun = all.map((one) => one.begun).sort((one, other) => one - other);
    return `${kind}, ${all.length} times from ${seconds(begun[0] ?? 0)} to ${seconds(begun.at(-1) ?? 0)} s`;
  });
  return [
    ...kills.map(({ kind, begun, gone }) => `${kind} killed at ${seconds(begun)} s, gone at ${seconds(gone)} s`),
    ...groups,
  ];
}
