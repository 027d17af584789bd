import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { readFileOrInput } from '../input.ts';
import { printable, table } from '../output.ts';
import { confirm } from '../prompt.ts';

const MANIFEST = '[manifest]';
const TO_BEGIN = 'To begin with: tancho service template > service.yaml';
const TEMPLATE = `# The manifest of a service: tancho service create service.yaml
id: mydb                                # name of the service
password: change-me                     # the platform shows it to your provider with every call
endpoint:
  production: https://db.example.com    # where your provider answers
# username: mydb                        # beside the password; the id when absent
# kind: http                            # http, or osb for a broker of the Open Service Broker API
# team: myteam                          # who may change the service; all your teams when absent
# restricted: true                      # only your teams and those you grant access may use it
`;

export function registerService(service: Command, cli: Cli): void {
  registerLooking(service, cli);
  registerManifests(service, cli);
  service
    .command('remove')
    .description('Take a service without instances out of the catalog')
    .argument('<service>', 'name of the service')
    .option('-y, --yes', 'do not ask')
    .action(async (name: string, options: { yes?: boolean }) => {
      if (options.yes !== true) await confirm(cli, `Remove the service ${name}?`, '--yes');
      const client = await cli.client();
      await cli.during('Removing the service', () => client.services.remove(name));
      cli.show({ service: name }, () => `Service ${name} removed.`);
    });
  service
    .command('grant')
    .description('Let a team use a restricted service')
    .argument('<service>', 'name of the service')
    .argument('<team>', 'name of the team')
    .action(async (name: string, team: string) => {
      const client = await cli.client();
      await cli.during('Giving access', () => client.services.grant(name, team));
      cli.show({ service: name, team }, () => `The team ${team} may use ${name} now.`);
    });
  service
    .command('revoke')
    .description("Take a team's access to a restricted service away")
    .argument('<service>', 'name of the service')
    .argument('<team>', 'name of the team')
    .action(async (name: string, team: string) => {
      const client = await cli.client();
      await cli.during('Taking access away', () => client.services.revoke(name, team));
      cli.show({ service: name, team }, () => `The team ${team} may no longer use ${name}.`);
    });
}

function registerLooking(service: Command, cli: Cli): void {
  service
    .command('list')
    .description('List the services you may use, with your instances')
    .option('--owned', 'those that your teams own, with all their instances')
    .action(async (options: { owned?: boolean }) => {
      const client = await cli.client();
      const list = await cli.during('Asking', () =>
        options.owned === true ? client.services.listOwned() : client.instances.list(),
      );
      const rows = list.map((one) => [one.service, one.instances.join(', ')]);
      cli.show(list, () => (list.length === 0 ? 'There are no services.' : table(['SERVICE', 'INSTANCES'], rows)));
    });
  service
    .command('info')
    .description('Show the instances of a service that you have access to')
    .argument('<service>', 'name of the service')
    .action(async (name: string) => {
      const client = await cli.client();
      const list = await cli.during('Asking', () => client.services.info(name));
      const rows = list.map((one) => [one.Name, one.PlanName, one.Teams.join(', '), one.Apps.join(', '), one.Status]);
      cli.show(list, () =>
        rows.length === 0
          ? `You have no instance of ${name}. To make one: tancho instance create ${name} <name>`
          : table(['INSTANCE', 'PLAN', 'TEAMS', 'APPS', 'STATUS'], rows),
      );
    });
  service
    .command('plans')
    .description('List the plans of a service')
    .argument('<service>', 'name of the service')
    .action(async (name: string) => {
      const client = await cli.client();
      const plans = await cli.during('Asking', () => client.services.plans(name));
      const rows = plans.map((plan) => [plan.Name, plan.Description]);
      cli.show(plans, () => (rows.length === 0 ? `${name} has no plans.` : table(['PLAN', 'DESCRIPTION'], rows)));
    });
  service
    .command('doc')
    .description('Show the documentation of a service, or store another one')
    .argument('<service>', 'name of the service')
    .option('--set <file>', 'a file to store, or - for standard input')
    .action(async (name: string, options: { set?: string }) => {
      const client = await cli.client();
      if (options.set === undefined) {
        const doc = await cli.during('Asking', () => client.services.doc(name));
        return cli.show({ service: name, doc }, () => (doc === '' ? `${name} has no documentation.` : printable(doc)));
      }
      const text = await readFileOrInput(cli, options.set);
      await cli.during('Storing', () => client.services.setDoc(name, text));
      cli.show({ service: name }, () => `The documentation of ${name} is stored.`);
    });
}

function registerManifests(service: Command, cli: Cli): void {
  service
    .command('template')
    .description('Print a manifest to begin with')
    .action(() => cli.show({ manifest: TEMPLATE }, () => TEMPLATE.trimEnd()));
  service
    .command('create')
    .description('Add a service to the catalog')
    .argument(MANIFEST, 'file with its manifest, or - for standard input', 'service.yaml')
    .action(async (file: string) => {
      const text = await readFileOrInput(cli, file, TO_BEGIN);
      const client = await cli.client();
      await cli.during('Adding the service', () => client.services.create(text));
      cli.show({ manifest: file }, () => 'The service is in the catalog.');
    });
  service
    .command('update')
    .description('Replace what the manifest of a service says')
    .argument(MANIFEST, 'file with its manifest, or - for standard input', 'service.yaml')
    .action(async (file: string) => {
      const text = await readFileOrInput(cli, file, TO_BEGIN);
      const client = await cli.client();
      await cli.during('Updating the service', () => client.services.update(text));
      cli.show({ manifest: file }, () => 'The service is updated.');
    });
}
