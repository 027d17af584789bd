/** Whether the symbolic links of a tree stay inside it. Pure; follows links through links, as the kernel would. */

const MAX_HOPS = 40;
/** Parts of paths, over all links: a few links of links can make more of them than anybody could wait for. */
const MAX_STEPS = 5_000_000;

/** A place in the tree that is a link, or on the way to one. */
interface PathNode {
  readonly inner: Map<string, PathNode>;
  target: readonly string[] | null;
  isAbsolute: boolean;
}

/**
 * Paths of the links that would lead out of the tree; null when that would take too long to find out. `links` maps the path of
 * each link to its target.
 */
export function escapingLinks(links: ReadonlyMap<string, string>): string[] | null {
  const root = nodesOf(links);
  const leaving: string[] = [];
  let left = MAX_STEPS;
  for (const path of links.keys()) {
    const { isInside, steps } = follow(path, root, left);
    left -= steps;
    if (left <= 0) return null;
    if (!isInside) leaving.push(path);
  }
  return leaving;
}

function nodesOf(links: ReadonlyMap<string, string>): PathNode {
  const root = newNode();
  for (const [path, target] of links) {
    let place = root;
    for (const part of path.split('/')) {
      const inner = place.inner.get(part) ?? newNode();
      place.inner.set(part, inner);
      place = inner;
    }
    place.target = target.split('/').reverse();
    place.isAbsolute = target.startsWith('/');
  }
  return root;
}

function newNode(): PathNode {
  return { inner: new Map(), target: null, isAbsolute: false };
}

function follow(link: string, root: PathNode, most: number): { isInside: boolean; steps: number } {
  const left = link.split('/').reverse();
  /** Null: below it there is no link. */
  const at: (PathNode | null)[] = [root];
  let hops = 0;
  let steps = 0;
  for (let part = left.pop(); part !== undefined && steps < most; part = left.pop()) {
    steps += 1;
    if (part === '' || part === '.') continue;
    if (part === '..') {
      at.pop();
      if (at.length === 0) return { isInside: false, steps };
      continue;
    }
    const place: PathNode | null = at.at(-1)?.inner.get(part) ?? null;
    if (place?.target == null) {
      at.push(place);
      continue;
    }
    if (place.isAbsolute) return { isInside: false, steps };
    hops += 1;
    // A loop leads nowhere, and so not out.
    if (hops > MAX_HOPS) return { isInside: true, steps };
    for (const next of place.target) left.push(next);
  }
  return { isInside: true, steps };
}
