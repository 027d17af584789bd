/** Every command is run against a server that knows every operation: which operations do commands reach, and is their JSON JSON? */
import type { Command } from 'commander';
import { access, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CliWorld, type Ran } from '../../test/support/cli-world.ts';
import { type SamplePlatform, startSamplePlatform } from '../../test/support/sample-platform.ts';
import { idOf } from '../../test/contract/document.ts';
import { COMMANDS, createProgram } from './program.ts';

/** Operations that no command calls, and why. A new operation needs a command or a reason. */
const WITHOUT_COMMAND: Readonly<Record<string, string>> = {
  'apps.shell': '"tancho app shell" opens a websocket, which needs a real server',
  'api_key.show_text': 'the published operation shows the same',
  'apps.pool': '"tancho app update --pool" changes it with the rest of the record',
  'apps.team_owner': '"tancho app update --team" changes it with the rest of the record',
  'browser_session.end': 'for pages of the dashboard',
  'browser_session.open': 'for pages of the dashboard',
  'auth.login': '"tancho login" uses the published operation',
  'auth.scheme': 'there is one way to log in',
  'metadata.healthcheck': '"tancho server status" asks the server of this machine',
  'metrics.prometheus': 'for Prometheus',
  'apps.custom_data': 'for programs that leave data with an app',
  'apps.log_push': 'for programs beside the units that have lines for the log',
  'deploys.available': 'for builders that ask before they build',
  'logs.clear': 'for programs of operators',
  'units.known': 'for programs beside the units',
  'units.register': 'for programs beside the units',
  'units.report': 'for programs beside the units',
  'edges.follow': 'what "tancho edge run" starts asks for it, over a websocket',
  'instances.proxy': 'for programs that speak with the provider of a service',
  'instances.bind_of_service': 'the published operation answers the variables with their values',
  'instances.remove_of_service': '"tancho instance remove" calls it for what "tancho instance list" shows',
  'keys.remove_by_name': '"tancho key remove" uses the published operation',
  'apps.metric_envs': 'there are none',
  'plans.routers': 'there is one router',
  'pools.list': '"tancho pool list" shows more',
  'services.proxy': 'for programs that speak with the provider of a service',
  'quotas.user': '"tancho user quota" shows more',
};

/**
 * They are about this machine or this program, not about the API; the shell is no request but a websocket, what is watched has no end, and
 * what is verified must be true.
 */
const LOCAL = [
  'app shell',
  'build plan',
  'completion',
  'edge run',
  'event verify',
  'event watch',
  'install',
  'migrate',
  'provider',
  'server',
  'server stop',
  'server restore',
  'server status',
  'version',
];
const ARGUMENTS: Readonly<Record<string, string>> = {
  'KEY=VALUE': 'A=b',
  'setting=value': 'maintenance=on',
  settings: 'maintenance',
  'process=count': 'web=1',
  count: '1',
  email: 'ann@example.com',
  file: 'sample',
  manifest: 'sample',
  paths: 'sample',
  release: 'v1',
  names: 'sample',
};
/** Commands that do nothing without an option. */
const OPTIONS: Readonly<Record<string, readonly string[]>> = {
  'alert set': ['--threshold', '2'],
  'app update': ['--pool', 'p'],
  'cert add': ['--chain', 'sample', '--key', 'sample'],
  'instance update': ['--description', 'text'],
  'pool update': ['--public'],
  'registry login': ['--user', 'robot'],
  'volume update': ['--shared'],
  'drain update': ['--no-headers'],
};
/** Further ways to use a command, which call other operations. */
const MORE: readonly (readonly string[])[] = [
  ['user', 'quota', 'ann@example.com', '--limit', '3'],
  ['app', 'quota', 'shop', '--limit', '3'],
  ['why', 'http://shop.example.com'],
  ['service', 'doc', 'service', '--set', 'sample'],
  ['service', 'list', '--owned'],
  ['user', 'reset', 'ann@example.com', '--token', 't', '--random'],
  ['user', 'admin', 'ann@example.com', '--revoke'],
  ['app', 'update', 'shop', '--plan', 'p'],
  ['app', 'token-revoke', 'shop', '--id', 'i'],
  ['server', 'backup'],
  ['server', 'backup', '--list'],
  ['server', 'disk'],
  ['server', 'health'],
  ['logout', '--everywhere'],
];

const world = new CliWorld();
const runs = new Map<string, Ran>();
let platform: SamplePlatform;

beforeAll(async () => {
  platform = await startSamplePlatform();
  const { root } = await createProgram(world.context(), new Set(Object.keys(COMMANDS)));
  const lines = [...leaves(root, []), ...MORE].map((line) =>
    line.map((word) => (word === 'URL' ? platform.url : word)),
  );
  const env = { TANCHO_TARGET: platform.url, TANCHO_TOKEN: 'token' };
  await writeFile(join(world.work, 'sample'), 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ sample\n');
  const stdin = 'secret12\nsecret12\nsecret12\n';
  // The last ones end the login.
  const isLast = (line: readonly string[]): number => (line[0] === 'logout' ? 1 : 0);
  for (const line of lines.sort((one, other) => isLast(one) - isLast(other))) {
    const given = line[0] === 'logout' ? {} : env;
    if (line[0] === 'logout') await world.run(['login', platform.url, '--email', 'ann@example.com'], { stdin });
    runs.set(line.join(' '), await world.run([...line, '--json'], { env: given, stdin }));
  }
});
afterAll(async () => {
  world.dispose();
  await platform.close();
});

function leaves(command: Command, path: readonly string[]): string[][] {
  if (LOCAL.includes(path.join(' '))) return [];
  if (command.commands.length > 0) return command.commands.flatMap((one) => leaves(one, [...path, one.name()]));
  const given = command.registeredArguments.map((one) =>
    one.name() === 'url' ? 'URL' : (ARGUMENTS[one.name()] ?? (one.name().startsWith('app') ? 'shop' : one.name())),
  );
  const has = (long: string): boolean => command.options.some((one) => one.long === long);
  const isNamed = command.registeredArguments.some((one) => one.name() === 'app');
  const options = [
    ...(OPTIONS[path.join(' ')] ?? []),
    ...(has('--app') && !isNamed ? ['--app', 'shop'] : []),
    ...(has('--yes') ? ['--yes'] : []),
    ...(has('--email') ? ['--email', 'ann@example.com'] : []),
  ];
  return [[...path, ...options, ...given]];
}

describe('every command', () => {
  it('succeeds, and prints one JSON document when asked for JSON', () => {
    const wrong = [...runs].flatMap(([line, { code, out, err }]) => {
      if (code !== 0) return [`${line}: ends with ${code}: ${err}`];
      return isJson(out) ? [] : [`${line}: ${out.slice(0, 200)}`];
    });
    expect(wrong).toEqual([]);
  });

  it('writes files where it is run, and nowhere else', async () => {
    expect(await readFile(join(world.work, 'path'), 'utf8')).toContain('"row"');
    await expect(access('path')).rejects.toThrow();
  });

  it('and every operation are there for each other, or it is said why not', () => {
    const ids = [...new Set(platform.operations.map(idOf))].sort();
    const without = ids.filter((id) => !platform.called.has(id));
    console.log(`${ids.length - without.length} of ${ids.length} operations are called by commands`);
    expect(without).toEqual(ids.filter((id) => id in WITHOUT_COMMAND));
    expect(Object.keys(WITHOUT_COMMAND).filter((id) => !ids.includes(id))).toEqual([]);
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
