/** The edge over TLS, beside nginx with one worker, the same certificate, the same fields and the same app. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { testCertificate } from '../../test/support/test-certificates.ts';
import { freePort } from '../../test/support/free-port.ts';
import { edgePid, type World } from '../../test/support/world.ts';
import type { Bench, Measure } from '../bench.ts';
import { shakeHands } from '../handshakes.ts';
import { HOST, loadedApp, publishLoadBeside, type Side } from '../load-beside.ts';
import { NO_NGINX, nginxProgram, startNginx } from '../nginx-server.ts';
import { cpuMs } from '../process-use.ts';

const CONNECTIONS = 8;
const SECONDS = 1;
const ROUNDS = 5;

export const tls: Measure = {
  name: 'tls',
  about: 'requests and handshakes a second over TLS through the edge beside nginx with one worker',
  async run(bench) {
    const program = nginxProgram();
    if (program === undefined) return bench.note(NO_NGINX);
    const tlsPort = await freePort();
    const env = { TANCHO_TLS_LISTEN: `127.0.0.1:${tlsPort}`, TANCHO_CERTIFICATES_AUTHORITY: 'none' };
    const { world, port, token } = await loadedApp(bench, env);
    const certificate = await testCertificate(HOST);
    await present(world, token, certificate);
    const other = {
      ...bench.keep(await startNginx(program, { upstream: port, tls: certificate, hasLargeBuffers: true })),
      what: 'through nginx',
    };
    const through = { port: tlsPort, pid: await edgePid(world) };
    for (const isResumed of [false, true]) await publishHandshakes(bench, through, other, isResumed);
    await publishLoadBeside(bench, through, other, { tls: HOST });
  },
};

async function present(world: World, token: string, { chain, key }: { chain: string; key: string }): Promise<void> {
  const [chainFile, keyFile] = [join(world.home, 'chain.pem'), join(world.home, 'key.pem')];
  await writeFile(chainFile, chain);
  await writeFile(keyFile, key);
  const env = { TANCHO_TOKEN: token, TANCHO_TARGET: world.apiUrl };
  const added = await world.cli(['cert', 'add', '--chain', chainFile, '--key', keyFile], { env });
  if (added.code !== 0) throw new Error(`adding a certificate: ${added.stderr}`);
}

async function publishHandshakes(
  bench: Bench,
  through: Side,
  beside: Side & { readonly what: string },
  isResumed: boolean,
): Promise<void> {
  const sides = [through, beside].map((side) => ({ side, perSecond: [] as number[], eachUs: [] as number[] }));
  const options = { name: HOST, isResumed, connections: CONNECTIONS };
  for (const { side } of sides) await shakeHands({ ...options, port: side.port, seconds: SECONDS / 2 });
  await bench.rounds(ROUNDS, async () => {
    for (const { side, perSecond, eachUs } of sides) {
      const before = await cpuMs(side.pid);
      const count = await shakeHands({ ...options, port: side.port, seconds: SECONDS });
      perSecond.push(count / SECONDS);
      eachUs.push((((await cpuMs(side.pid)) - before) * 1_000) / count);
    }
  });
  const [own, floor] = sides;
  if (own === undefined || floor === undefined) return;
  const what = isResumed ? 'handshakes with a ticket' : 'handshakes';
  const rows = [
    { what, unit: '/s', key: 'perSecond' },
    { what: `${what}: processor time of each`, unit: 'us', key: 'eachUs' },
  ] as const;
  for (const { what: name, unit, key } of rows) {
    bench.publish({ what: name, unit, samples: own[key], floor: { what: beside.what, samples: floor[key] } });
  }
}
