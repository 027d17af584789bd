/**
 * What the kubelets of all simulated nodes answer, as a process of its own: each container has printed a few lines and prints no more, so whoever
 * follows its output holds a connection for as long as the pod is there.
 */
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { KubernetesClient } from '../../src/kubernetes/client.ts';
import { follow, keyOf } from '../../src/kubernetes/follow.ts';
import { kubeconfigAccess } from '../../src/kubernetes/kubeconfig.ts';
import { KINDS } from '../../src/kubernetes/kinds.ts';
import type { Pod } from '../../src/kubernetes/objects.ts';

const LINES = 3;
const [, , port = '', certificate = '', key = '', kubeconfig = ''] = process.argv;
const begun = `${new Date().toISOString().slice(0, 19)}.000000000Z`;
/** By `namespace/name` of the pod. */
const followers = new Map<string, Set<ServerResponse>>();

const server = createServer({ cert: readFileSync(certificate), key: readFileSync(key) }, (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'https://kubelet');
  if (pathname === '/stats/summary' || pathname === '/stats/summary/') {
    response.setHeader('content-type', 'application/json');
    return void response.end('{"pods":[]}');
  }
  const [, namespace = '', name = ''] = /^\/containerLogs\/([^/]+)\/([^/]+)\/[^/]+$/.exec(pathname) ?? [];
  if (name === '') return void response.writeHead(404).end();
  response.setHeader('content-type', 'text/plain');
  response.flushHeaders();
  for (let line = 0; line < LINES; line++) response.write(`${begun} line ${line} of ${name}\n`);
  const pod = `${namespace}/${name}`;
  if (searchParams.get('follow') === 'true' && pods.objects.has(pod)) hold(pod, response);
  else response.end();
});

function hold(pod: string, response: ServerResponse): void {
  const all = followers.get(pod) ?? new Set();
  followers.set(pod, all.add(response));
  response.once('close', () => {
    all.delete(response);
    if (all.size === 0) followers.delete(pod);
  });
}

const pods = follow<Pod>({
  client: new KubernetesClient(await kubeconfigAccess(kubeconfig, null)),
  ...{ kind: KINDS.pods, where: {}, onError: () => undefined },
  kept: ({ metadata: { name, namespace = '', uid = '', resourceVersion = '' } }) => ({
    metadata: { name, namespace, uid, resourceVersion },
    spec: { containers: [] },
  }),
  onChange: ({ now, before }) => {
    if (now !== null || before === null) return;
    for (const response of followers.get(keyOf(before)) ?? []) response.end();
  },
});
server.requestTimeout = 0;
server.listen(Number(port), '127.0.0.1');
