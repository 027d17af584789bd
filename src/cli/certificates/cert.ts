import type { Command } from 'commander';
import type { Certificate } from '../../client/shapes.ts';
import type { Cli } from '../cli.ts';
import { readFileOrInput } from '../input.ts';
import { table } from '../output.ts';
import { registerTrust } from './trust.ts';

interface AddOptions {
  readonly chain: string;
  readonly key: string;
  readonly app?: string;
}

const NAME = 'host name, as "tancho cert list" shows it';

export function registerCert(cert: Command, cli: Cli): void {
  cert
    .command('list')
    .description('List the certificates of your apps, with their state')
    .action(async () => {
      const client = await cli.client();
      const list = await cli.during('Asking', () => client.certificates.list());
      cli.show(list, () => listText(list));
    });
  cert
    .command('why')
    .description('Say why a host name has no certificate, or no new one, and what to do about it')
    .argument('<name>', NAME)
    .action(async (name: string) => {
      const client = await cli.client();
      const report = await cli.during(`Looking at ${name}`, () => client.certificates.why(name));
      cli.show(report, () => {
        const [found] = report.certificates;
        const shown = found === undefined ? `${report.name} has no certificate.` : stateText(found);
        if (report.problem === '')
          return `${shown}\nNothing is wrong with ${report.name}, as far as can be seen from the server.`;
        return `${shown}\n\n${report.problem}\nNext: ${report.nextStep}`;
      });
    });
  cert
    .command('renew')
    .description('Ask for a certificate now, instead of when its time comes')
    .argument('<name>', NAME)
    .action(async (name: string) => {
      const client = await cli.client();
      const found = await cli.during(`Asking for a certificate of ${name}`, () => client.certificates.renew(name));
      cli.show(found, () => stateText(found));
    });
  cert
    .command('add')
    .description('Upload a certificate of your own')
    .requiredOption('--chain <file>', 'PEM: the certificate, then those that it was issued by; - for standard input')
    .requiredOption('--key <file>', 'PEM: its private key, without a passphrase')
    .option('-a, --app <app>', 'for the names of this app (default: for all names of the certificate; admins)')
    .addHelpText(
      'after',
      '\nIt goes before those that the platform gets by itself. Upload the next one before it expires.',
    )
    .action(async (options: AddOptions) => {
      const chain = await readFileOrInput(cli, options.chain);
      const key = await readFileOrInput(cli, options.key);
      const client = await cli.client();
      const { app } = options;
      const added = await cli.during('Uploading the certificate', () =>
        client.certificates.add({ chain, key, ...(app === undefined ? {} : { app }) }),
      );
      cli.show(added, () => [stateText(added.certificate), ...added.notes.map((note) => `Note: ${note}`)].join('\n'));
    });
  cert
    .command('remove')
    .description('Remove an uploaded certificate')
    .argument('<name>', NAME)
    .action(async (name: string) => {
      const client = await cli.client();
      await cli.during('Removing the certificate', () => client.certificates.remove(name));
      cli.show({ name }, () => `The uploaded certificate of ${name} is removed.`);
    });
  registerTrust(cert, cli);
}

function listText(list: readonly Certificate[]): string {
  if (list.length === 0)
    return 'There are no certificates. They come by themselves once the server listens for TLS (edge.tls.listen).';
  const rows = list.map((one) => [one.names.join(', '), one.app, one.state, expiryOf(one), one.issuer, one.problem]);
  return table(['NAMES', 'APP', 'STATE', 'EXPIRES', 'ISSUER', 'PROBLEM'], rows);
}

function stateText(one: Certificate): string {
  const names = one.names.join(', ');
  const shown = shownText(one, names);
  if (one.state === 'waiting' || one.state === 'ordering') return `${shown}\nOne is being asked for.`;
  if (one.state !== 'failed') return shown;
  return `${shown}\nThe last attempt failed: ${one.problem}\nNext: ${one.nextStep}\nIt is tried again at ${one.nextAttemptAt}.`;
}

function shownText(one: Certificate, names: string): string {
  if (one.state === 'expired') return `The certificate of ${one.issuer} for ${names} expired on ${expiryOf(one)}.`;
  const has = `${names} has a certificate of ${one.issuer}, good until ${expiryOf(one)}`;
  if (one.presented) return `${has}.`;
  return one.state === 'issued' ? `${has}, which is not presented now.` : `${names} has no certificate yet.`;
}

function expiryOf({ notAfter }: Certificate): string {
  return notAfter.slice(0, 10);
}
