/** Whether the symbolic links of a tree stay inside it. Pure; follows links through links, as the kernel would. */

const MAX_HOPS = 40;

/** Paths of the links that would lead out of the tree. `links` maps the path of each link to its target. */
export function escapingLinks(links: ReadonlyMap<string, string>): string[] {
  return [...links.keys()].filter((path) => !staysInside(path, links));
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
