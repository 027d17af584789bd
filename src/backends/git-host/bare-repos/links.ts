/** Whether the symbolic links of a tree stay inside it. Pure; follows links through links, as the kernel would. */

const MAX_HOPS = 40;

/** The first link, by path, that would lead out of the tree, or null. `links` maps the path of each link to its target. */
export function escapingLink(links: ReadonlyMap<string, string>): string | null {
  for (const path of links.keys()) {
    if (!staysInside(path, links)) return path;
  }
  return null;
}

function staysInside(link: string, links: ReadonlyMap<string, string>): boolean {
  const left = link.split('/').reverse();
  const at: string[] = [];
  let hops = 0;
  for (let part = left.pop(); part !== undefined; part = left.pop()) {
    if (part === '' || part === '.') continue;
    if (part === '..') {
      if (at.pop() === undefined) return false;
      continue;
    }
    const target = links.get([...at, part].join('/'));
    if (target === undefined) {
      at.push(part);
      continue;
    }
    if (target.startsWith('/')) return false;
    hops += 1;
    // A loop leads nowhere, and so not out.
    if (hops > MAX_HOPS) return true;
    left.push(...target.split('/').reverse());
  }
  return true;
}
