import type { App } from './app.ts';

type Owned = Pick<App, 'name' | 'cname' | 'teamOwner'>;

/** The app of another team that has one of these names, or one below or above it; null: nobody has. */
export function holderOf(apps: readonly Owned[], { teamOwner }: Owned, names: readonly string[]) {
  for (const app of apps.filter((other) => other.teamOwner !== teamOwner)) {
    for (const held of app.cname) {
      const name = names.find((one) => isSameOrBelow(bare(one), bare(held)) || isSameOrBelow(bare(held), bare(one)));
      if (name !== undefined) return { name, held };
    }
  }
  return null;
}

function isSameOrBelow(name: string, above: string): boolean {
  return name === above || name.endsWith(`.${above}`);
}

function bare(name: string): string {
  return name.replace(/^\*\./, '');
}
