/** One of everything that a path can name, and bodies that get as far as the question who may do this. */
import { PASSWORD } from '../../src/backends/service-endpoint/testing/faulty-server.ts';
import { startHttpProvider } from '../../src/backends/service-endpoint/testing/http-provider.ts';
import { type Described, idOf } from './document.ts';
import { aPlatform, type Ask, ask, somebodyWithApp, type Target, unique } from './target.ts';

/** By the name of the placeholder; `token`: of who has them all. */
export type Examples = Readonly<Record<string, string>>;

/** Operations that look at their body before they look at who asks. */
const BODIES: Readonly<Record<string, Ask>> = {
  'env.set': { body: { A: 'b' } },
  'env.unset': { body: ['A'] },
  'apps.run': { body: 'true' },
  'units.add': { body: '1' },
  'units.remove': { body: '1' },
  'units.set': { body: '1' },
  'volumes.create': { body: { name: 'photos' } },
  'volumes.mount': { body: { path: '/photos' } },
  'cnames.add': { body: { cname: 'www.example.com' } },
};
const QUERIES: Readonly<Record<string, string>> = {
  'apps.log': '?lines=1',
  'pools.team_add': '?team=no-such-team',
  'pools.team_remove': '?team=no-such-team',
};

/** Of a user who has them all, and whom nobody else knows. The provider behind the service must be closed in the end. */
export async function makeExamples(
  target: Target,
  admin: string,
): Promise<{ examples: Examples; close(): Promise<void> }> {
  const provider = await startHttpProvider();
  try {
    return { examples: await makeAll(target, admin, provider.url), close: () => provider.close() };
  } catch (error) {
    await provider.close();
    throw error;
  }
}

async function makeAll(target: Target, admin: string, providerUrl: string): Promise<Examples> {
  const owner = await somebodyWithApp(target, admin);
  const pool = unique('p');
  const service = unique('service-');
  const instance = unique('instance-');
  const manifest = [
    `id: ${service}`,
    // Otherwise everybody may see it and make instances.
    'restricted: true',
    'username: platform',
    `password: ${PASSWORD}`,
    'endpoint:',
    `  production: ${providerUrl}`,
  ].join('\n');
  const make = async (path: string, token: string, body: string | object): Promise<void> => {
    const { status, text } = await ask(target, 'POST', path, { token, body });
    if (status !== 200) throw new Error(`POST ${path}: ${status} ${text}`);
  };
  await make('/pools', admin, { name: pool });
  await make('/services', owner.token, manifest);
  await make('/services/instances', owner.token, { name: instance, service_name: service });
  return {
    token: owner.token,
    app: owner.app,
    team: owner.team,
    user: owner.email,
    email: owner.email,
    pool,
    service,
    instance,
    volume: 'photos',
    host: 'registry.example.com',
    deploy: await aDeploy(target, owner.token, owner.team),
    event: await anEvent(target, owner.token),
    to: owner.app,
    // Of these there is none.
    name: 'no-such-key',
    unit: `${owner.app}/0`,
    process: 'web',
    drain: 'ffffffff',
    webhook: 'ffffffff',
    delivery: 'msg_0',
    healer: unique('h'),
    platform: unique('p'),
    plan: unique('p'),
  };
}

/** Of somebody else than who made it. */
async function anEvent(target: Target, token: string): Promise<string> {
  const [event] = (await ask(target, 'GET', '/events?limit=1', { token })).json as { UniqueID: string }[];
  if (event === undefined) throw new Error('what the owner did is not recorded');
  return event.UniqueID;
}

/** Of another app, so that the operations on the example app have no units to replace. */
async function aDeploy(target: Target, token: string, teamOwner: string): Promise<string> {
  if (target.deploy === undefined) return 'ffffffffffffffffffffffff';
  const name = unique('app-');
  const body = { name, teamOwner, platform: await aPlatform(target, token) };
  const created = await ask(target, 'POST', '/apps', { token, body });
  if (created.status !== 200) throw new Error(`making an app: ${created.status} ${created.text}`);
  await target.deploy(name, token);
  const [deploy] = (await ask(target, 'GET', `/deploys?app=${name}`, { token })).json as { ID: string }[];
  return deploy?.ID ?? '';
}

export function examplePath(operation: Described, examples: Examples): string {
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const example = examples[name];
    if (example === undefined) throw new Error(`examples.ts has no example of {${name}} in ${operation.path}`);
    return encodeURIComponent(example);
  });
  return path + (QUERIES[idOf(operation)] ?? '');
}

export function exampleBody(operation: Described): Ask {
  const given = BODIES[idOf(operation)];
  if (given !== undefined) return given;
  return operation.requestBody?.content['application/json'] === undefined ? {} : { body: {} };
}
