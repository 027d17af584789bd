/** What runs before the units of a rollout start: the commands of a new version, once, then those of every restart. */
import { randomHex } from '../../lib/ids.ts';
import type { Settings } from '../settings.ts';
import { commandSpec } from '../units/unit-spec.ts';
import type { HookRun } from '../units/hook-run.ts';
import type { Units } from '../units/units.ts';
import type { NumberedPlan } from './rollout-plan.ts';

/** Migrations of large databases take their time. */
const RELEASE_TIMEOUT_MS = 60 * 60_000;

interface CommandsDeps {
  readonly units: Pick<Units, 'runCommand'>;
  readonly settings: Pick<Settings, 'unitLimits'>;
}

/**
 * One after the other, with the code and environment of the release. Who holds the app's lease is the only one that runs them; they
 * end with this process, so none goes on beside the one that a crash makes necessary. Throws Failure `release_command_failed`,
 * `timeout`, `cancelled`.
 */
export async function runCommandsBefore(deps: CommandsDeps, plan: NumberedPlan): Promise<void> {
  const { release, isNewVersion = false } = plan;
  const { hooks } = release;
  if (isNewVersion) {
    const how = { what: 'release command', source: 'release', timeoutMs: RELEASE_TIMEOUT_MS };
    for (const command of hooks.release) await runCommand(deps, plan, command, how);
  }
  for (const command of hooks.restartBefore) await runCommand(deps, plan, command, { what: 'restart hook' });
}

async function runCommand(
  { units, settings }: CommandsDeps,
  { release, say, signal }: NumberedPlan,
  command: string,
  how: Pick<HookRun, 'what' | 'source' | 'timeoutMs'>,
): Promise<void> {
  say(`-----> Running the ${how.what}: ${command}`);
  await units.runCommand({
    spec: commandSpec(randomHex(12), release, settings.unitLimits, how.source ?? 'run'),
    env: release.env,
    command,
    signal,
    ...how,
    say: (line) => say(`       ${line}`),
  });
}
