/** `tancho install image`: this very program as an image, for servers that run in a cluster. */
import type { Cli } from '../cli.ts';
import { UsageError } from '../errors.ts';

export interface ImageFlags {
  readonly base: string;
  readonly login?: string;
  readonly insecure?: boolean;
}

const NAME = /^([a-z0-9.-]+(?::[0-9]{1,5})?)\/([a-z0-9]+(?:[._/-][a-z0-9]+)*):([A-Za-z0-9_][A-Za-z0-9._-]{0,127})$/;

export async function installImage(cli: Cli, name: string, flags: ImageFlags): Promise<void> {
  const [, host, repository, tag] = NAME.exec(name) ?? [];
  if (host === undefined || repository === undefined || tag === undefined) {
    throw new UsageError('Name the image with its registry and a tag, such as registry.example.com/tancho:1.');
  }
  const login = flags.login ?? cli.context.env['TANCHO_REGISTRY_LOGIN'] ?? '';
  const [user = '', ...password] = login.split(':');
  const image = await cli.during('Pushing', (say) =>
    cli.context.server.pushProgram({
      ...{ host, repository, tag, base: flags.base, isInsecure: flags.insecure === true },
      login: login === '' ? null : { user, password: password.join(':') },
      program: cli.context.packageRoot,
      say,
    }),
  );
  cli.show({ image }, () => image);
}
