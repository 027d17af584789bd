/** The connection to an edge is gone: whether it has done what was asked last is not known, and it may well serve on. */
export class EdgeLost extends Error {
  override readonly name = 'EdgeLost';
}
