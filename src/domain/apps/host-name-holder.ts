import type { App } from './app.ts';

type Owned = Pick<App, 'name' | 'cname' | 'teamOwner'>;

/** The app of another team that has one of these names, or one below or above it; null: nobody has. */
export function holderOf(apps: readonly Owned[], { teamOwner }: Owned, names: readonly string[]) {
  const wanted = new Map(names.map((name) => [bare(name), name]));
  const aboveWanted = new Map(names.flatMap((name) => domainsOf(bare(name)).map((domain) => [domain, name])));
  for (const app of apps.filter((other) => other.teamOwner !== teamOwner)) {
    for (const held of app.cname) {
      const at = bare(held);
      const below = domainsOf(at).find((domain) => wanted.has(domain));
      const name = aboveWanted.get(at) ?? (below === undefined ? undefined : wanted.get(below));
      if (name !== undefined) return { name, held };
    }
  }
  return null;
}

/** `a.b.c` -> `a.b.c`, `b.c`, `c`. */
function domainsOf(name: string): string[] {
  const labels = name.split('.');
  return labels.map((_, from) => labels.slice(from).join('.'));
}

function bare(name: string): string {
  return name.replace(/^\*\./, '');
}
