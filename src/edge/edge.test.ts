import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { EdgeLog } from './edge-log.ts';
import { Edge } from './edge.ts';
import { parseOptions } from './options.ts';
import { DataPlane } from './proxy/data-plane.ts';

it('an edge that has closed its listeners does not say that another one can take over from it', async () => {
  const dir = await mkdtemp(`${tmpdir()}/tancho-edge-`);
  try {
    const follow = { name: 'alone', program: '0.0.0', servers: ['http://127.0.0.1:9'] };
    const options = { stateDir: dir, runDir: dir, host: '127.0.0.1', port: 0, follow };
    const parsed = parseOptions(JSON.stringify(options));
    const serving = new DataPlane(parsed.settings, () => {});
    const following = { pause: async () => {}, resume: () => {} };
    const edge = new Edge(parsed, { serving, predecessor: null, log: new EdgeLog(), following });
    expect(await edge.answer({ op: 'hello' })).toMatchObject({ follows: true });
    await edge.leave(0);
    expect(await edge.answer({ op: 'hello' })).toMatchObject({ follows: false });
    await edge.stop();
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});
