import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { CertificateAuthority } from '../../client/shapes.ts';
import type { Cli } from '../cli.ts';
import { CliError } from '../errors.ts';

export function registerTrust(cert: Command, cli: Cli): void {
  cert
    .command('trust')
    .description('Show who issues certificates here, and how to make this machine trust it')
    .option('--out <file>', 'write the root certificate to a file')
    .action(async ({ out }: { out?: string }) => {
      const client = await cli.client();
      const authority = await cli.during('Asking', () => client.certificates.authority());
      if (out !== undefined) await save(cli, out, authority);
      cli.show(authority, () => trustText(authority, out ?? null));
    });
}

async function save(cli: Cli, out: string, { root }: CertificateAuthority): Promise<void> {
  if (root === '') throw new CliError('There is no root to trust: everybody trusts the authority already.');
  const file = resolve(cli.context.cwd, out);
  await writeFile(file, root).catch((cause: unknown) => {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    throw new CliError(`The file ${out} cannot be written (${code}).`, 'Choose another one.', { cause });
  });
}

function trustText(
  { name, local, root, fingerprint, dnsRecord, dnsValue }: CertificateAuthority,
  out: string | null,
): string {
  if (name === '') return 'No authority is asked here: certificates are uploaded (tancho cert add).';
  const lines = [`Certificates are issued by ${local ? 'the local authority of this platform' : name}.`];
  if (dnsRecord !== '') {
    lines.push('', 'For one certificate of all apps add this TXT record, once:', `  ${dnsRecord}  "${dnsValue}"`);
  }
  if (root === '') return [...lines, 'Browsers and other clients trust it already: there is nothing to do.'].join('\n');
  const file = out ?? 'tancho-root.pem';
  lines.push(`SHA-256 of its root: ${fingerprint}`, '');
  lines.push(out === null ? 'Get the root:\n  tancho cert trust --out tancho-root.pem' : `The root is in ${out}.`, '');
  lines.push(
    'Debian, Ubuntu (also curl, git and most others there):',
    `  sudo cp ${file} /usr/local/share/ca-certificates/tancho-root.crt && sudo update-ca-certificates`,
    'Fedora, RHEL:',
    `  sudo cp ${file} /etc/pki/ca-trust/source/anchors/ && sudo update-ca-trust`,
    'macOS (Safari, Chrome):',
    `  sudo security add-trusted-cert -d -r trustRoot -k /Library/Keychains/System.keychain ${file}`,
    'Windows (Edge, Chrome), as administrator:',
    `  certutil -addstore -f Root ${file}`,
    'Chrome and Chromium on Linux:',
    `  certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n tancho -i ${file}`,
    'Firefox: Settings, Privacy & Security, View Certificates, Authorities, Import',
    'Node.js, once per shell:',
    `  export NODE_EXTRA_CA_CERTS=$PWD/${file}`,
    '',
    "It is good for names below the platform's domain only: trusting it opens nothing else.",
  );
  return lines.join('\n');
}
