/** Requests to an app through the edge, beside the same requests straight to the app's process. */
import { edgePid } from '../../test/support/world.ts';
import type { Measure } from '../bench.ts';
import { loadedApp, publishLoadBeside } from '../load-beside.ts';

export const edge: Measure = {
  name: 'edge',
  about: 'requests a second and latency through the edge, 100 B and 64 KB',
  async run(bench) {
    const { world, port } = await loadedApp(bench);
    const through = { port: Number(world.edge.split(':')[1]), pid: await edgePid(world) };
    await publishLoadBeside(bench, through, { what: 'straight to the app', port });
  },
};
