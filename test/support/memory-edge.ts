/** How requests are treated, in memory: kept with the app, and sent to no edge. */
import type { AppEdge } from '../../src/domain/apps/app-edge.ts';
import { changedEdge } from '../../src/domain/apps/edge-settings.ts';
import type { Memory } from './memory-state.ts';

export function edgeIn(memory: Memory): AppEdge {
  return {
    settings: async (caller, name) => memory.allowed(caller, 'app.info', name).edge,
    async change(caller, name, change) {
      const app = memory.allowed(caller, 'app.edge', name);
      const edge = changedEdge(app.edge, change);
      memory.records.set(name, { ...app, edge });
      return edge;
    },
  };
}
