/** A new app, created and pushed: until it answers over HTTPS, with a certificate that Pebble has issued, and over plain HTTP. */
import { get as httpGet } from 'node:http';
import { get as httpsGet } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../test/support/free-port.ts';
import { startPebble, WITHOUT_PEBBLE } from '../../test/support/pebble.ts';
import type { Measure } from '../bench.ts';
import { Pusher, pushed } from '../pushing.ts';
import { isStart, PLAIN_APP } from '../sample-apps.ts';

const DOMAIN = 'apps.example.com';
const APPS = 5;
const EVERY_MS = 4;
const PATIENCE_MS = 60_000;

export const https: Measure = {
  name: 'https',
  about: 'a new app pushed, to its first answer over HTTPS beside that over plain HTTP, with Pebble as the authority',
  async run(bench) {
    if (WITHOUT_PEBBLE !== '') return bench.note(`no certificates: ${WITHOUT_PEBBLE}`);
    const ports = { http: await freePort(), tls: await freePort() };
    const pebble = await startPebble(ports);
    bench.keep({ dispose: () => pebble.close() });
    const world = await bench.world({
      env: {
        TANCHO_EDGE_LISTEN: `127.0.0.1:${ports.http}`,
        TANCHO_TLS_LISTEN: `127.0.0.1:${ports.tls}`,
        TANCHO_DOMAIN: DOMAIN,
        // The ports are none of the web, and the names lead to loopback.
        TANCHO_CERTIFICATES_LOOK: 'off',
        TANCHO_ACME_DIRECTORY: pebble.directory,
        TANCHO_ACME_ROOTS: pebble.roots,
        TANCHO_DNS_SERVERS: pebble.dns,
      },
    });
    const pusher = await Pusher.open(bench, world);
    const [secure, plain]: number[][] = [[], []];
    await bench.rounds(APPS, async (round) => {
      const name = `app-${round}`;
      const work = bench.keep(await pusher.workTree(PLAIN_APP));
      const begun = performance.now();
      await pusher.createApp(name);
      // Plain HTTP goes on serving beside HTTPS.
      const body = JSON.stringify({ redirectHttps: false });
      await world.api('PUT', `/apps/${name}/edge`, { token: pusher.token, body });
      const host = `${name}.${DOMAIN}`;
      const answers = [untilAnswer(ports.http, host, false), untilAnswer(ports.tls, host, true)];
      await pushed(work, pusher.url(name, 'ssh'), 'main');
      const [http = 0, tls = 0] = await Promise.all(answers);
      plain?.push(http - begun);
      secure?.push(tls - begun);
    });
    const floor = { what: 'over plain HTTP', samples: plain ?? [] };
    bench.publish({ what: 'new app to the first answer over HTTPS', unit: 'ms', samples: secure ?? [], floor });
    const later = (secure ?? []).map((at, round) => Math.max(0, at - (plain?.[round] ?? at)));
    bench.publish({ what: 'the same: later than over plain HTTP', unit: 'ms', samples: later });
  },
};

/** Resolves with the time of the first answer of the app. */
async function untilAnswer(port: number, host: string, isSecure: boolean): Promise<number> {
  const deadline = performance.now() + PATIENCE_MS;
  while (performance.now() < deadline) {
    if (await answers(port, host, isSecure)) return performance.now();
    await pause(EVERY_MS);
  }
  throw new Error(`${host} did not answer at port ${port}`);
}

function answers(port: number, host: string, isSecure: boolean): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { host: '127.0.0.1', port, headers: { host }, agent: false, timeout: PATIENCE_MS };
    const get = isSecure ? httpsGet : httpGet;
    const asked = get({ ...options, servername: host, rejectUnauthorized: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => (text += part));
      answer.on('end', () => resolve(answer.statusCode === 200 && isStart(text)));
      answer.on('error', () => resolve(false));
    });
    asked.on('timeout', () => asked.destroy());
    asked.on('error', () => resolve(false));
  });
}
