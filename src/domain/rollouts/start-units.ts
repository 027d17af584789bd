/**
 * Starts the units of a rollout and judges them. What listens has to be ready. What does not listen is watched for a stated time:
 * a process that ends with 0 meanwhile is a task and done; one that ends otherwise has failed. What happens after the watch
 * decides nothing, however long other units take, so equal versions get equal verdicts.
 */
import { isRouted } from '../units/routed.ts';
import { type Unit, unitName, wasWell } from '../units/unit.ts';
import type { Units } from '../units/units.ts';
import { wantedCounts } from '../units/wanted-units.ts';
import { powerOf } from './partial-rollout.ts';
import { Failure } from '../failure.ts';
import type { NumberedPlan } from './rollout-plan.ts';

/** So long nothing is said while units start. */
const SILENCE_MS = 2_000;
const QUOTED_LINES = 10;
/** Of units that are lost while others start. */
const MOST_ROUNDS = 5;

interface Judged {
  readonly units: readonly Unit[];
  /** The app's units as they were before; those of the serving rollout say how well it was. */
  readonly serving: readonly Unit[];
  /** Processes of which units stay. */
  readonly staying: ReadonlySet<string>;
  readonly plan: NumberedPlan;
  readonly now: Date;
}

type Verdict = 'task' | 'tolerated' | 'failed';

/** Resolves with the processes that turned out to be tasks, of which nothing is left. Throws Failure. */
export async function startUnits(units: Units, judged: Judged): Promise<ReadonlySet<string>> {
  const { plan } = judged;
  const stop = new AbortController();
  const signal = AbortSignal.any([plan.signal, stop.signal]);
  const tasks = new Set<string>();
  const results = await Promise.allSettled(
    judged.units.map(async (unit) => {
      try {
        await startOne(units, unit, judged, signal);
      } catch (error) {
        const verdict = verdictOn(error, unit, judged);
        if (verdict === 'task') tasks.add(unit.process);
        else if (verdict === 'tolerated') await tolerate(units, unit, error as Failure, plan);
        else {
          stop.abort();
          throw error;
        }
      }
    }),
  );
  const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
  // The others were cancelled because of the first: report that one.
  if (errors.length > 0)
    throw errors.find((error) => !(error instanceof Failure && error.code === 'cancelled')) ?? errors[0];
  await startLost(units, judged, tasks);
  for (const process of tasks) plan.say(`       ${process} ended with code 0: a task, so it is not kept running`);
  if (tasks.size > 0)
    plan.say('       Tasks run once per deploy; to run one at will: tancho app run. To run none: a count of 0.');
  await Promise.all(judged.units.filter(({ process }) => tasks.has(process)).map((unit) => units.retire(unit)));
  return tasks;
}

/** Others may have taken so long that a node was lost with those that served already: their engine has them somewhere else. */
async function startLost(units: Units, judged: Judged, tasks: ReadonlySet<string>): Promise<void> {
  const { plan } = judged;
  const toServe = judged.units.filter(({ process }) => isRouted(plan.release, process) && !tasks.has(process));
  for (let round = 1; round <= MOST_ROUNDS; round++) {
    const lost = toServe.filter(({ id }) => units.isLost(id));
    if (lost.length === 0) return;
    await Promise.all(lost.map((unit) => startOne(units, unit, judged, plan.signal)));
  }
}

async function startOne(units: Units, unit: Unit, { plan, staying }: Judged, signal: AbortSignal): Promise<void> {
  const { app, release, say, isNewRelease, replaced } = plan;
  const isNew = isNewRelease && replaced === undefined;
  const name = `${unit.process} ${unitName(unit)}`;
  const done = isRouted(release, unit.process) ? 'to be ready' : 'to stay up';
  const waiting = setTimeout(() => say(`       waiting for ${name} ${done}`), SILENCE_MS);
  try {
    const announce = (text: string): void => say(`       ${name} ${text}`);
    // Beside units that stay it is one of them: an engine that keeps equal ones together spreads and spares them together.
    const joins = staying.has(unit.process) ? app.rollout : null;
    const options = { isNew, ...(isNewRelease && { say: announce }), ...(joins !== null && { joins }) };
    const { address } = await units.start(unit, release, signal, options);
    say(`       ${name} is up${address === null ? '' : ` on port ${address.port}`}`);
  } finally {
    clearTimeout(waiting);
  }
}

function verdictOn(error: unknown, unit: Unit, { serving, staying, plan, now }: Judged): Verdict {
  if (!(error instanceof Failure) || isRouted(plan.release, unit.process)) return 'failed';
  if (error.code !== 'exited' && error.code !== 'out_of_memory') return 'failed';
  if (error.exitCode === 0 && !staying.has(unit.process)) return 'task';
  const wanted = wantedCounts(plan.release, powerOf(plan));
  const answers = [...wanted].some(([process, count]) => count > 0 && isRouted(plan.release, process));
  if (plan.app.release === null) return answers ? 'tolerated' : 'failed';
  // It was no better before: a change may be the first of several that put it right.
  const before = serving.filter(({ process }) => process === unit.process);
  return before.length > 0 && !before.some((one) => wasWell(one, now)) ? 'tolerated' : 'failed';
}

/** The supervisor starts it again once the rollout is committed. */
async function tolerate(units: Units, unit: Unit, failure: Failure, { app, say }: NumberedPlan): Promise<void> {
  await units.fail(unit.id);
  const why = app.release === null ? 'The others serve all the same' : 'It was no better before, so the others serve';
  say('');
  say(` !     ${failure.message}`);
  const lines = failure.lines.slice(-QUOTED_LINES);
  if (lines.length > 0) say(' !     Its last lines:');
  for (const line of lines) say(`       | ${line}`);
  say(` !     ${why}; it is started again and again, after growing delays, until it stays up.`);
  say(` !     To see what it does: tancho app log -a ${app.name} --source ${unit.process}`);
  say('');
}
