/** Of the keys of edges' leases; the edge's name follows. */
export const EDGE_PREFIX = 'edge:';
