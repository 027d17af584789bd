import type { Command } from 'commander';
import type { Diagnosis } from '../client/shapes.ts';
import type { Cli } from './cli.ts';
import { appName } from './git.ts';
import { printable, printableOutput } from './output.ts';

/** Of what the process said last. */
const SHOWN_LINES = 10;

export function registerWhy(why: Command, cli: Cli): void {
  why
    .argument('[app]', 'an app, or an address such as http://shop.example.com (default: the one of the git remote)')
    .option('-a, --app <app>', 'the app')
    .addHelpText('after', '\nEnds with code 1 when something is broken.')
    .action(async (named: string | undefined, options: { app?: string }) => {
      const asked = await appName(cli, options.app ?? named);
      const client = await cli.client();
      const isAddress = /[.:/]/.test(asked);
      const found = await cli.during('Looking', () =>
        isAddress ? client.apps.diagnosisOf(asked) : client.apps.diagnosis(asked),
      );
      cli.show(found, () => describe(cli, found));
      if (!found.well) cli.exitCode = 1;
    });
}

function describe(cli: Cli, { app, url, well, answers, broken, links, notes }: Diagnosis): string {
  const lines: string[] = [];
  for (const { state, asks } of links) {
    if (state === 'not looked at') continue;
    const mark = state === 'holds' ? cli.paint('green', 'yes') : cli.paint('red', 'no ');
    lines.push(`${mark}  ${printable(asks)}`);
  }
  lines.push('');
  if (broken !== null) {
    lines.push(cli.paint('bold', printable(broken.cause)));
    lines.push(...(broken.lines ?? []).slice(-SHOWN_LINES).map((line) => `  | ${printableOutput(line)}`));
    lines.push(`Do this: ${printable(broken.command)}`);
    if (answers) lines.push('It does answer requests all the same.');
  }
  if (well) lines.push(`All is well: ${printable(app)} answers at ${printable(url)}.`);
  lines.push(...notes.map((note) => `Note: ${printable(note)}`));
  return lines.join('\n');
}
