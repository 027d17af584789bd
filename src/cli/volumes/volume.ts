import { type Command, Option } from 'commander';
import type { VolumeShape } from '../../client/shapes.ts';
import { APP_OPTION } from '../apps/app-option.ts';
import { byteSize } from '../byte-size.ts';
import type { Cli } from '../cli.ts';
import { UsageError } from '../errors.ts';
import { appName } from '../git.ts';
import { facts, table } from '../output.ts';
import { confirm } from '../prompt.ts';

interface ChangeOptions {
  readonly app?: string;
  readonly size?: string;
  readonly single?: boolean;
  readonly shared?: boolean;
}

const NAME = ['<volume>', 'as "tancho volume list" shows it'] as const;
const SIZE = ['-s, --size <size>', 'what it is to hold at most, such as 512M or 10G; 0 for no limit'] as const;
const SINGLE = [
  '--single',
  'only one unit may have it at a time: the old one ends before the new one starts, at every restart and deploy',
] as const;

export function registerVolume(volume: Command, cli: Cli): void {
  registerCreate(volume, cli);
  registerMount(volume, cli);
  registerUnmount(volume, cli);
  registerList(volume, cli);
  registerInfo(volume, cli);
  registerUpdate(volume, cli);
  registerRemove(volume, cli);
}

function registerCreate(volume: Command, cli: Cli): void {
  volume
    .command('create')
    .description('Make a directory for an app that stays when its units go')
    .argument('<name>', 'of the new volume, such as uploads')
    .option(...APP_OPTION)
    .option(...SIZE)
    .option(...SINGLE)
    .action(async (name: string, { app, ...options }: ChangeOptions) => {
      const owner = await appName(cli, app);
      const client = await cli.client();
      const made = await cli.during('Making the volume', () =>
        client.volumes.create(owner, { name, ...changeOf(options) }),
      );
      const next = `To let the units see it: tancho volume mount ${name} <path> -a ${owner}`;
      cli.show(made, () => `Volume ${name} of ${owner} made. ${next}`);
    });
}

function registerMount(volume: Command, cli: Cli): void {
  volume
    .command('mount')
    .description('Let the units of the app see a volume; those that run are replaced')
    .argument(...NAME)
    .argument('<path>', 'absolute, such as /data, or below the code, such as data/uploads')
    .option(...APP_OPTION)
    .option('-p, --process <process...>', 'only units of these processes (default: all)')
    .action(async (name: string, path: string, options: { app?: string; process?: string[] }) => {
      const app = await appName(cli, options.app);
      const client = await cli.client();
      const request = { path, ...(options.process === undefined ? {} : { processes: options.process }) };
      await cli.during(`Mounting ${name}`, (say) =>
        client.volumes.mount(app, name, request, { say, signal: cli.context.signal }),
      );
      cli.show({ app, name, path }, () => `${name} is mounted at ${path}.`);
    });
}

function registerUnmount(volume: Command, cli: Cli): void {
  volume
    .command('unmount')
    .description('Hide a volume from the units of the app; what it holds stays')
    .argument(...NAME)
    .option(...APP_OPTION)
    .action(async (name: string, options: { app?: string }) => {
      const app = await appName(cli, options.app);
      const client = await cli.client();
      await cli.during(`Unmounting ${name}`, (say) =>
        client.volumes.unmount(app, name, { say, signal: cli.context.signal }),
      );
      cli.show({ app, name }, () => `${name} is mounted no more; what it holds stays.`);
    });
}

function registerList(volume: Command, cli: Cli): void {
  volume
    .command('list')
    .description('List the volumes of an app, with what they hold')
    .option(...APP_OPTION)
    .action(async (options: { app?: string }) => {
      const app = await appName(cli, options.app);
      const client = await cli.client();
      const all = await cli.during('Asking', () => client.volumes.list(app));
      const rows = all.map((one) => [one.name, one.path, holds(one), limitOf(one), modeOf(one)]);
      cli.show(all, () =>
        all.length === 0
          ? `${app} has no volumes. To make one: tancho volume create <name> -a ${app}`
          : table(['NAME', 'MOUNTED AT', 'HOLDS', 'AT MOST', 'UNITS'], rows),
      );
    });
}

function registerInfo(volume: Command, cli: Cli): void {
  volume
    .command('info')
    .description('Show a volume')
    .argument(...NAME)
    .option(...APP_OPTION)
    .action(async (name: string, options: { app?: string }) => {
      const app = await appName(cli, options.app);
      const client = await cli.client();
      const found = await cli.during('Asking', () => client.volumes.info(app, name));
      cli.show(found, () => describe(found));
    });
}

function registerUpdate(volume: Command, cli: Cli): void {
  volume
    .command('update')
    .description('Change how much a volume is to hold, and whether several units may have it')
    .argument(...NAME)
    .option(...APP_OPTION)
    .option(...SIZE)
    .option(...SINGLE)
    .addOption(new Option('--shared', 'several units may have it').conflicts('single'))
    .action(async (name: string, { app, ...options }: ChangeOptions) => {
      const change = changeOf(options);
      if (Object.keys(change).length === 0) {
        throw new UsageError('Nothing to change was given.', 'Give --size, --single or --shared.');
      }
      const owner = await appName(cli, app);
      const client = await cli.client();
      const changed = await cli.during('Changing the volume', () => client.volumes.update(owner, name, change));
      cli.show(changed, () => describe(changed));
    });
}

function registerRemove(volume: Command, cli: Cli): void {
  volume
    .command('remove')
    .description('Remove a volume that is not mounted, with everything in it')
    .argument(...NAME)
    .option(...APP_OPTION)
    .option('-y, --yes', 'do not ask')
    .action(async (name: string, options: { app?: string; yes?: boolean }) => {
      const app = await appName(cli, options.app);
      const question = async (): Promise<string> => {
        const found = await (await cli.client()).volumes.info(app, name);
        return `Remove the volume ${name} of ${app} with the ${holds(found)} in it for good?`;
      };
      if (options.yes !== true) await confirm(cli, question, '--yes');
      const client = await cli.client();
      await cli.during(`Removing ${name}`, () => client.volumes.remove(app, name));
      cli.show({ app, name }, () => `Volume ${name} of ${app} removed.`);
    });
}

function changeOf({ size, single, shared }: Omit<ChangeOptions, 'app'>): { size?: string; single?: boolean } {
  return {
    ...(size !== undefined && { size }),
    ...(single === true && { single: true }),
    ...(shared === true && { single: false }),
  };
}

function describe(one: VolumeShape): string {
  return facts([
    ['Volume', one.name],
    ['App', one.app],
    ['Mounted at', one.path === '' ? 'nowhere' : one.path],
    ['By', one.mounted_by === 'file' ? 'the file of the app' : undefined],
    ['For', one.processes.length === 0 ? undefined : one.processes.join(', ')],
    ['Holds', holds(one)],
    ['At most', limitOf(one)],
    ['Units', modeOf(one)],
    ['State', one.state === 'ready' ? undefined : one.state],
    ['Made', `${one.created_at} by ${one.created_by}`],
  ]);
}

function holds({ bytes }: VolumeShape): string {
  return bytes < 0 ? 'not known' : byteSize(bytes);
}

function limitOf({ max_bytes: most }: VolumeShape): string {
  return most === 0 ? 'no limit' : byteSize(most);
}

function modeOf({ single }: VolumeShape): string {
  return single ? 'one at a time' : 'all';
}
