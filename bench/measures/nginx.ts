/**
 * Requests to an app through the edge, beside the same requests through nginx with one worker, the same fields and the same app: as it is
 * installed, and, for what its buffers do not hold then, with larger ones.
 */
import { edgePid } from '../../test/support/world.ts';
import type { Measure } from '../bench.ts';
import { loadedApp, publishLoadBeside } from '../load-beside.ts';
import { NO_NGINX, nginxProgram, startNginx } from '../nginx-server.ts';

export const nginx: Measure = {
  name: 'nginx',
  about: 'requests a second and latency through the edge beside nginx with one worker',
  async run(bench) {
    const program = nginxProgram();
    if (program === undefined) return bench.note(NO_NGINX);
    const { world, port } = await loadedApp(bench);
    const other = bench.keep(await startNginx(program, { upstream: port }));
    const larger = bench.keep(await startNginx(program, { upstream: port, hasLargeBuffers: true }));
    const through = { port: Number(world.edge.split(':')[1]), pid: await edgePid(world) };
    await publishLoadBeside(bench, through, { ...other, what: 'through nginx' });
    await publishLoadBeside(bench, through, { ...larger, what: 'nginx, large buffers' }, { fromBytes: 65_536 });
  },
};
