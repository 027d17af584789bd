/** docs/config.md, made from the table of settings; docs.test.ts keeps the two in step. */
import { SETTINGS } from './schema.ts';

export function configDocs(): string {
  const parts = [
    '# Settings',
    'All state lies in one directory, `TANCHO_HOME` (default `~/.tancho`). The first start writes `config.yaml` there, with every setting commented out.',
    'A setting is taken from its environment variable, else from `config.yaml`, else its default holds. A variable set to the empty text counts as not set. In the file, `api.listen: ...` and `listen: ...` below `api:` mean the same. A key that does not exist, or a value that cannot be used, stops the start with one line that names the place.',
    'Addresses are written `host:port`; `[::1]:8080` for IPv6 (in quotes in the file), `:8080` for every address of the machine. Times are seconds or have a unit (`90`, `90s`, `2m`, `1h`), sizes are bytes or have one (`512M`, `2G`).',
  ];
  for (const setting of Object.values(SETTINGS)) {
    const secret = setting.secret === true ? ' Its value is never shown.' : '';
    parts.push(
      `## \`${setting.key}\``,
      `${setting.description.replaceAll('<', '\\<')}${secret}`,
      `- Variable: \`${setting.variable}\`\n- Default: ${setting.default === '' ? 'none' : `\`${setting.default}\``}`,
    );
  }
  return `${parts.join('\n\n')}\n`;
}
