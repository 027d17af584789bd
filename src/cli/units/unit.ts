import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { UsageError } from '../errors.ts';
import { appName } from '../git.ts';
import { table } from '../output.ts';
import { APP_OPTION } from '../apps/app-option.ts';

export function registerUnit(unit: Command, cli: Cli): void {
  unit
    .command('list')
    .description('List the units of an app')
    .option(...APP_OPTION)
    .action(async (options: { app?: string }) => {
      const name = await appName(cli, options.app);
      const client = await cli.client();
      const { Units } = await cli.during('Asking', () => client.apps.info(name));
      const rows = Units.map((one) => [one.Name, one.ProcessName ?? '', one.State, one.Ip ?? '']);
      cli.show(Units, () =>
        rows.length === 0 ? `${name} has no units.` : table(['UNIT', 'PROCESS', 'STATE', 'ADDRESS'], rows),
      );
    });
  registerSet(unit, cli);
  registerChange(unit, cli, 'add');
  registerChange(unit, cli, 'remove');
}

function registerSet(unit: Command, cli: Cli): void {
  unit
    .command('set')
    .description('Set how many units processes have, before the first deploy too')
    .argument('<process=count...>', 'such as worker=0 or web=2')
    .option(...APP_OPTION)
    .action(async (texts: readonly string[], options: { app?: string }) => {
      const wanted = texts.map((text) => {
        const [, process = '', count = ''] = /^([^=]+)=(\d{1,6})$/.exec(text) ?? [];
        if (process === '') throw new UsageError(`"${text}" is not <process>=<count>.`, 'tancho unit set worker=0');
        return { process, count: Number(count) };
      });
      const name = await appName(cli, options.app);
      const { apps } = await cli.client();
      await cli.during(`Changing the units of ${name}`, async (say) => {
        for (const { process, count } of wanted)
          await apps.setUnits(name, process, count, { say, signal: cli.context.signal });
      });
      const units = Object.fromEntries(wanted.map(({ process, count }) => [process, count]));
      cli.show({ app: name, units }, () => `Units of ${name} set: ${texts.join(', ')}.`);
    });
}

function registerChange(unit: Command, cli: Cli, verb: 'add' | 'remove'): void {
  const isAdd = verb === 'add';
  unit
    .command(verb)
    .description(isAdd ? 'Start more units of an app' : 'End some of the units of an app')
    .argument('<count>', 'how many')
    .option(...APP_OPTION)
    .option('-p, --process <process>', 'of this process (default: web, or the only one)')
    .action(async (text: string, options: { app?: string; process?: string }) => {
      const count = Number(text);
      if (!/^\d{1,6}$/.test(text) || count === 0) throw new UsageError('<count> must be a whole number from 1 on.');
      const name = await appName(cli, options.app);
      const { apps } = await cli.client();
      const act = isAdd ? apps.addUnits : apps.removeUnits;
      const { process } = options;
      await cli.during(`${isAdd ? 'Adding units to' : 'Removing units from'} ${name}`, (say) =>
        act(name, count, { say, signal: cli.context.signal, ...(process === undefined ? {} : { process }) }),
      );
      const units = count === 1 ? 'unit' : 'units';
      cli.show({ app: name, units: count }, () => `${count} ${units} ${isAdd ? 'added to' : 'removed from'} ${name}.`);
    });
}
