import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { byteSize } from '../byte-size.ts';
import { table } from '../output.ts';

interface CreateOptions {
  readonly memory?: string;
  readonly cpu?: string;
  readonly disk?: string;
  readonly default?: boolean;
}

export function registerPlan(plan: Command, cli: Cli): void {
  plan
    .command('list')
    .description('List the plans: what each unit of an app may use')
    .action(async () => {
      const client = await cli.client();
      const plans = await cli.during('Asking', () => client.plans.list());
      const rows = plans.map((one) => [
        one.name,
        one.default ? 'yes' : '',
        one.memory === 0 ? 'no limit' : `${Math.round(one.memory / 1024 ** 2)} MiB`,
        one.cpumilli === 0 ? 'no limit' : `${one.cpumilli / 1000}`,
        one.disk === 0 ? 'as set' : byteSize(one.disk),
      ]);
      cli.show(plans, () => table(['NAME', 'DEFAULT', 'MEMORY', 'PROCESSORS', 'DISK'], rows));
    });
  plan
    .command('create')
    .description('Create a plan (admins)')
    .argument('<name>', 'name of the plan')
    .option('-m, --memory <size>', 'what one unit may use, such as 512M (default: no limit)')
    .option('-c, --cpu <millis>', 'thousandths of a processor one unit may use (default: no limit)')
    .option('--disk <size>', 'what one unit may write for itself, such as 2G (default: the setting units.disk)')
    .option('--default', 'new apps have it unless they name another one')
    .action(async (name: string, options: CreateOptions) => {
      const client = await cli.client();
      const { memory, cpu, disk } = options;
      const made = {
        name,
        default: options.default === true,
        ...(memory === undefined ? {} : { memory }),
        ...(cpu === undefined ? {} : { cpumilli: cpu }),
        ...(disk === undefined ? {} : { disk }),
      };
      await cli.during('Creating the plan', () => client.plans.create(made));
      cli.show(made, () => `Plan ${name} created.`);
    });
  plan
    .command('remove')
    .description('Remove a plan that no app has (admins)')
    .argument('<plan>', 'name of the plan')
    .action(async (name: string) => {
      const client = await cli.client();
      await cli.during('Removing the plan', () => client.plans.remove(name));
      cli.show({ name }, () => `Plan ${name} removed.`);
    });
}
