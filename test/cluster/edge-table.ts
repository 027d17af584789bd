/** What the edge of a server goes by, as it keeps it itself. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** Where it sends the requests of an app. */
export function addressesIn(home: string, app: string): ReadonlySet<string> {
  const { routes } = JSON.parse(readTable(home)) as { routes: { app: string; targets: { host: string }[] }[] };
  return new Set(routes.filter((route) => route.app === app).flatMap(({ targets }) => targets.map(({ host }) => host)));
}

/** It lies deeper where the edge has a user of its own. */
function readTable(home: string): string {
  try {
    return readFileSync(path.join(home, 'edge', 'state', 'table.json'), 'utf8');
  } catch {
    return readFileSync(path.join(home, 'edge', 'table.json'), 'utf8');
  }
}
