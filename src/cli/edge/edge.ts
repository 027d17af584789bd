import type { Command } from 'commander';
import type { EdgeChange, EdgeSettings } from '../../client/shapes.ts';
import { APP_OPTION } from '../apps/app-option.ts';
import { byteSize } from '../byte-size.ts';
import type { Cli } from '../cli.ts';
import { UsageError } from '../errors.ts';
import { appName } from '../git.ts';
import { readFileOrInput } from '../input.ts';
import { facts } from '../output.ts';
import { registerEdgesElsewhere } from './elsewhere.ts';

type Setting = keyof EdgeSettings;

interface Described {
  readonly setting: Setting;
  /** Values, or what is behind the name. */
  readonly values: string;
  readonly is: string;
}

/** By the names that people write. */
const SETTINGS: Readonly<Record<string, Described>> = {
  maintenance: { setting: 'maintenance', values: 'on, off', is: 'answer 503 in place of the app' },
  'maintenance-page': {
    setting: 'maintenancePage',
    values: '<html>, @<file>',
    is: 'shown then, in place of that of tancho.yaml',
  },
  hold: { setting: 'hold', values: 'off, unserved, always', is: 'requests wait: while no unit can answer, or all' },
  'hold-seconds': { setting: 'holdSeconds', values: '1-300', is: 'so long, then 503' },
  'access-log': {
    setting: 'accessLog',
    values: 'on, off',
    is: 'each request is a line of the app\'s log, from "router"',
  },
  sticky: { setting: 'sticky', values: 'on, off', is: 'a client comes to the same unit again, by a cookie' },
  'redirect-https': {
    setting: 'redirectHttps',
    values: 'on, off',
    is: 'plain HTTP leads to HTTPS, where there is a certificate',
  },
  'max-body-bytes': {
    setting: 'maxBodyBytes',
    values: 'bytes, 0',
    is: 'longer requests are answered 413; 0: no limit',
  },
  'response-timeout-seconds': {
    setting: 'responseTimeoutSeconds',
    values: '0-3600',
    is: 'for the head of an answer; 0: 60',
  },
  'max-requests': { setting: 'maxRequests', values: '0-100000', is: 'at one time, more are answered 503; 0: no limit' },
};
export const EDGE_SETTING_NAMES = Object.keys(SETTINGS);
const WIDTH = Math.max(...EDGE_SETTING_NAMES.map((name) => `${name}=${SETTINGS[name]?.values}`.length));
const HELP = [
  '\nSettings:',
  ...Object.entries(SETTINGS).map(([name, { values, is }]) => `  ${`${name}=${values}`.padEnd(WIDTH)}  ${is}`),
].join('\n');
const EXAMPLE = 'For example: tancho edge set -a shop maintenance=on';

export function registerEdge(edge: Command, cli: Cli): void {
  edge
    .command('show')
    .description('Show how the edge treats the requests to an app')
    .argument('[app]', APP_OPTION[1])
    .option(...APP_OPTION)
    .action(async (named: string | undefined, options: { app?: string }) => {
      const name = await appName(cli, options.app ?? named);
      const client = await cli.client();
      const settings = await cli.during('Asking', () => client.edge.show(name));
      cli.show(settings, () => describe(settings));
    });
  edge
    .command('set')
    .description('Change how the edge treats the requests to an app, at once and without a restart')
    .argument('<setting=value...>', 'see below')
    .option(...APP_OPTION)
    .addHelpText('after', HELP)
    .action(async (pairs: string[], options: { app?: string }) => {
      const change = await changeOf(cli, pairs);
      await apply(cli, options.app, change);
    });
  edge
    .command('unset')
    .description('Take settings back: the requests are treated as those of any app')
    .argument('<settings...>', `any of ${EDGE_SETTING_NAMES.join(', ')}`)
    .option(...APP_OPTION)
    .action(async (names: string[], options: { app?: string }) => {
      const change = Object.fromEntries(names.map((name) => [known(name), null]));
      await apply(cli, options.app, change);
    });
  registerEdgesElsewhere(edge, cli);
}

async function apply(cli: Cli, app: string | undefined, change: EdgeChange): Promise<void> {
  const name = await appName(cli, app);
  const client = await cli.client();
  const settings = await cli.during(`Changing how requests to ${name} are treated`, () =>
    client.edge.set(name, change),
  );
  cli.show(settings, () => describe(settings));
}

async function changeOf(cli: Cli, pairs: readonly string[]): Promise<EdgeChange> {
  const change: Partial<Record<Setting, string>> = {};
  for (const pair of pairs) {
    const cut = pair.indexOf('=');
    if (cut < 1) throw new UsageError('Settings are written NAME=VALUE.', EXAMPLE);
    const setting = known(pair.slice(0, cut));
    if (change[setting] !== undefined) throw new UsageError(`${pair.slice(0, cut)} is given twice.`, EXAMPLE);
    const value = pair.slice(cut + 1);
    const isFile = setting === 'maintenancePage' && value.startsWith('@');
    change[setting] = isFile ? await readFileOrInput(cli, value.slice(1)) : value;
  }
  return change;
}

function known(name: string): Setting {
  const found = SETTINGS[name];
  if (found !== undefined) return found.setting;
  throw new UsageError(`There is no setting "${name}".`, `There are ${EDGE_SETTING_NAMES.join(', ')}.`);
}

function describe(settings: EdgeSettings): string {
  const onOff = (is: boolean): string => (is ? 'on' : 'off');
  const { hold, holdSeconds, maxBodyBytes, responseTimeoutSeconds, maxRequests, maintenancePage } = settings;
  const page = maintenancePage === '' ? '' : `, with its own page of ${byteSize(Buffer.byteLength(maintenancePage))}`;
  return facts([
    ['Maintenance', `${onOff(settings.maintenance)}${page}`],
    ['Hold', hold === 'off' ? 'off' : `${hold}, for ${holdSeconds} seconds`],
    ['Access log', onOff(settings.accessLog)],
    ['Sticky', onOff(settings.sticky)],
    ['HTTP to HTTPS', onOff(settings.redirectHttps)],
    ['Longest body', maxBodyBytes === 0 ? 'no limit' : byteSize(maxBodyBytes)],
    ['Answer within', responseTimeoutSeconds === 0 ? "the platform's time" : `${responseTimeoutSeconds} seconds`],
    ['At one time', maxRequests === 0 ? 'no limit' : `${maxRequests} requests`],
  ]);
}
