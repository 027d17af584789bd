/** Test support: units in a real cluster, in a namespace of their own that takes nothing but what Pod Security "restricted" allows. */
import { setTimeout as delay } from 'node:timers/promises';
import { argvText } from '../../../../lib/argv-text.ts';
import { randomHex } from '../../../../lib/ids.ts';
import { SILENT } from '../../../../lib/logger.ts';
import { KubernetesClient } from '../../../../kubernetes/client.ts';
import { KINDS } from '../../../../kubernetes/kinds.ts';
import { kubeconfigAccess } from '../../../../kubernetes/kubeconfig.ts';
import type { Provisioner } from '../../../../domain/units/provisioner.ts';
import type { ConformanceCommands, ConformanceWorld } from '../../conformance.ts';
import { createKubernetesProvisioner } from '../kubernetes-provisioner.ts';
import { lifeOf } from '../pod-state.ts';
import { bookOf } from '../unit-book.ts';

const LOOK_MS = 100;
const APP = `
const http = require('node:http');
http.createServer((request, response) => {
  if (request.url === '/crash') process.exit(7);
  if (request.url === '/hang') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  if (request.url.startsWith('/say?')) console.log(request.url.slice(5));
  response.statusCode = request.url === '/broken' ? 500 : 200;
  response.end('hello');
}).listen(process.argv[1] === 'elsewhere' ? 0 : Number(process.env.PORT), () => console.log('listening'));
process.on('SIGTERM', () => process.exit(0));
`;
const MUCH =
  'for (let n = 0; n < 4e4; n++) console.log("line " + n + " x".repeat(50)); console.log("last"); setInterval(() => {}, 1e6)';
const GROW = 'const kept = []; setInterval(() => kept.push(Buffer.alloc(8e6, 1)), 5)';

const node = (code: string, ...words: string[]): string => argvText(['/bin/node', '-e', code, ...words]);
const sh = (line: string): string => argvText(['/bin/sh', '-c', line]);
const PRINT_ENVIRONMENT = 'echo "$TANCHO_APP $TANCHO_UNIT $TANCHO_PROCESS $GREETING"';

const COMMANDS: ConformanceCommands = {
  serve: node(APP),
  serveElsewhere: node(APP, 'elsewhere'),
  exit3: sh('echo last words; exit 3'),
  // The first process of a container is not ended by its own signals.
  killSelf: sh('exit 137'),
  printAndStay: sh('printf "one\\ntwo\\nthree\\n"; exec sleep 1000'),
  printEnvironment: sh(PRINT_ENVIRONMENT),
  stubborn: sh('trap "" TERM; echo ready; while :; do sleep 0.1; done'),
  grow: node(GROW),
  printMuch: node(MUCH),
  runAndFail: 'echo out; echo err >&2; exit 4',
  runLong: 'sleep 1000 & sleep 1000',
};

/** `image` by digest: it has /bin/node and a shell. */
export async function realWorld(kubeconfig: string, image: string): Promise<ConformanceWorld> {
  const client = new KubernetesClient(await kubeconfigAccess(kubeconfig, null));
  const namespace = `tancho-test-${randomHex(8)}`;
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await client.create(KINDS.namespaces, { metadata: { name: namespace, labels } });
  const settings = {
    installation: randomHex(8),
    namespace,
    imagePullSecret: null,
    user: 1000,
    reachedFrom: ['0.0.0.0/0'],
  };
  const make = (): Provisioner => createKubernetesProvisioner({ name: 'kubernetes', client, settings, logger: SILENT });
  let current = make();
  return {
    provisioner: current,
    artifact: 'shop/1',
    image,
    commands: COMMANDS,
    typed: { printEnvironment: PRINT_ENVIRONMENT, exit3: 'echo last words; exit 3' },
    restart: async () => {
      await current.close();
      current = make();
      return current;
    },
    killBehind: async (id) => {
      const { items } = await client.list(KINDS.deployments, { namespace });
      const name = items.map((one) => bookOf(one).get(id)?.pod ?? '').join('');
      const pod = await client.get(KINDS.pods, { name, namespace });
      if (pod === null) throw new Error(`The unit ${id} has no pod.`);
      const ended = await client.exec(pod.metadata, {
        ...{ container: 'app', command: ['/bin/kill', '-TERM', '1'], hasInput: false, isTerminal: false },
        ...{ onOutput: () => {}, signal: AbortSignal.timeout(60_000) },
      });
      await ended.ended.catch(() => undefined);
      const { deaths } = lifeOf(pod);
      const isDead = async (): Promise<boolean> => {
        const now = await client.get(KINDS.pods, pod.metadata);
        return now === null || lifeOf(now).deaths > deaths;
      };
      while (!(await isDead())) await delay(LOOK_MS);
    },
    dispose: async () => {
      await current.close();
      await client.delete(KINDS.namespaces, { name: namespace });
      client.close();
    },
  };
}
