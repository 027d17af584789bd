/** `tancho provider check`: what holds of the contract, as a table. */
import { checkProvider } from '../../providers/check/check.ts';
import type { CheckResult } from '../../providers/check/run.ts';
import type { Cli } from '../cli.ts';
import { UsageError } from '../errors.ts';
import { table } from '../output.ts';

export async function runCheck(
  cli: Cli,
  given: string,
  flags: { username?: string; password?: string; timeout: string },
): Promise<number> {
  const { url, username, password } = addressOf(cli, given, flags);
  const timeout = Number(flags.timeout);
  if (!/^[0-9]{1,4}$/.test(flags.timeout) || timeout === 0) {
    throw new UsageError('--timeout must be a whole number of seconds.');
  }
  const credentials = username === '' && password === '' ? null : { username, password };
  const report = await cli.during('Checking', (say) =>
    checkProvider({ url, credentials, timeoutMs: timeout * 1000 }, ({ name, result }) => {
      if (cli.interactive) say(`${result}: ${name}`);
    }),
  );
  cli.show(report, () => {
    const rows = report.checks.map((check) => [verdict(check), check.name, `${check.ms} ms`, check.reason]);
    const count = (wanted: string): number => report.checks.filter((check) => verdict(check) === wanted).length;
    const summary = `${count('holds')} hold, ${count('FAILS')} fail, ${count('weak')} could be better, ${count('skipped')} skipped.`;
    const end = report.holds ? `The contract holds: ${summary}` : `The contract does not hold: ${summary}`;
    return `${table(['RESULT', 'CHECK', 'TIME', 'REMARK'], rows)}\n\n${end}`;
  });
  return report.holds ? 0 : 1;
}

/** Of what is not required a failure is only weak. */
function verdict({ result, required }: CheckResult): string {
  if (result !== 'fails') return result;
  return required ? 'FAILS' : 'weak';
}

/** Name and password may also be part of the address. */
function addressOf(cli: Cli, given: string, flags: { username?: string; password?: string }) {
  const example = 'For example: tancho provider check http://127.0.0.1:8432 --username postgres';
  if (!URL.canParse(given)) throw new UsageError('That is no address of a provider.', example);
  const parsed = new URL(given);
  if (!['http:', 'https:'].includes(parsed.protocol))
    throw new UsageError('A provider is called by http or https.', example);
  const username = flags.username ?? decodeURIComponent(parsed.username);
  const inEnv = cli.context.env['TANCHO_PROVIDER_PASSWORD'] ?? '';
  const password = flags.password ?? (parsed.password === '' ? inEnv : decodeURIComponent(parsed.password));
  const url = `${parsed.origin}${parsed.pathname}`.replace(/\/+$/, '');
  return { url, username, password };
}
