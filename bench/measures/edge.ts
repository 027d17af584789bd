/** Requests to an app through the edge, beside the same requests straight to the app's process. */
import type { Measure } from '../bench.ts';
import { loadedApp, publishLoadBeside } from '../load-beside.ts';

export const edge: Measure = {
  name: 'edge',
  about: 'requests a second and latency through the edge, 100 B and 64 KB',
  async run(bench) {
    const { world, port } = await loadedApp(bench);
    await publishLoadBeside(bench, world, { what: 'straight to the app', port });
  },
};
