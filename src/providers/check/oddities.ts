/** What people call their instances, and what else arrives. */
import {
  ContractViolation,
  isSuccess,
  listOf,
  mustRefuse,
  mustSucceed,
  sameVariables,
  shown,
  Skipped,
  variablesOf,
} from './expect.ts';
import { type Check, pathOf, type CheckRun } from './run.ts';

const APP = 'check-one.example.com';
const SLOW_MS = 10_000;

export const ODDITY_CHECKS: readonly Check[] = [
  {
    name: 'every plan that is offered can be had',
    required: true,
    needs: ['create: an instance', 'plans: a list of names and descriptions'],
    async work(run) {
      if (run.plans.length === 0) throw new Skipped('there are no plans');
      for (const [at, plan] of run.plans.entries()) await lives(run, run.name(`plan-${at}`), plan);
    },
  },
  {
    name: 'a plan that is not offered: refused',
    required: false,
    needs: ['create: an instance'],
    async work(run) {
      mustRefuse(await run.create(run.name('no-plan'), { plan: 'there-is-no-such-plan' }), 'create');
      run.made.delete(run.name('no-plan'));
    },
  },
  {
    name: 'long names, capitals, dashes and underscores work',
    required: true,
    needs: ['create: an instance'],
    async work(run) {
      for (const about of ['Capitals_and-Dashes', 'x'.repeat(100)]) await lives(run, run.name(about));
    },
  },
  {
    name: 'names that only begin alike, or differ in case, are two instances',
    required: true,
    needs: ['create: an instance', 'bind-app: variables for the app'],
    async work(run) {
      const long = run.name('y'.repeat(90));
      await areTwo(run, `${long}-a`, `${long}-b`);
      await areTwo(run, run.name('case'), run.name('CASE'));
    },
  },
  {
    name: 'odd names work or are refused, and break nothing',
    required: false,
    needs: ['create: an instance'],
    async work(run) {
      const odd = [`it's "odd"; --`, 'ünïcode ☃', '$(id)', '%2e%2e', 'a/b', 'a\u0000b', '*', 'plans'];
      const refused: string[] = [];
      for (const about of odd) {
        const name = about === 'plans' ? about : run.name(about);
        const reply = await run.create(name);
        if (isSuccess(reply)) {
          if (about === 'plans')
            throw new ContractViolation('"plans" was accepted; its info would be the list of plans');
          mustSucceed(await run.remove(name));
          continue;
        }
        run.made.delete(name);
        mustRefuse(reply, `creating ${JSON.stringify(about)}`);
        refused.push(JSON.stringify(about));
      }
      return refused.length === 0 ? '' : `refused: ${refused.join(', ')}`;
    },
  },
  {
    name: 'requests that lack something: refused',
    required: false,
    needs: ['create: an instance'],
    async work(run) {
      const idempotencyKey = run.key();
      mustRefuse(await run.call('POST', '/resources', { fields: { team: 'check' }, idempotencyKey }), 'no name');
      mustRefuse(await run.call('POST', '/resources', { body: '%', idempotencyKey }), 'a body that is no form');
    },
  },
  {
    name: 'no call took long',
    required: false,
    needs: ['it answers'],
    async work(run) {
      const text = `the slowest took ${run.slowest} ms`;
      if (run.slowest > SLOW_MS) throw new ContractViolation(text);
      return text;
    },
  },
];

/** From its creation to its removal, without a fault. */
async function lives(run: CheckRun, name: string, plan?: string): Promise<void> {
  const reply = await run.create(name, plan === undefined ? {} : { plan });
  if (!isSuccess(reply)) throw new ContractViolation(`creating ${plan ?? name}: ${shown(reply)}`);
  await isThere(run, name);
  mustSucceed(await run.remove(name));
}

async function areTwo(run: CheckRun, one: string, other: string): Promise<void> {
  const variables = [];
  for (const name of [one, other]) {
    mustSucceed(await run.create(name));
    variables.push(variablesOf(await run.bind(name, APP)));
  }
  const [first = {}, second = {}] = variables;
  if (Object.keys(first).length > 0 && sameVariables(first, second))
    throw new ContractViolation('both give the same variables');
  await run.unbind(one, APP);
  mustSucceed(await run.remove(one));
  await isThere(run, other);
  await run.unbind(other, APP);
  mustSucceed(await run.remove(other));
}

/** As far as the provider answers with facts about its instances. */
async function isThere(run: CheckRun, name: string): Promise<void> {
  if (run.hasInfo) listOf(await run.call('GET', pathOf(name)), 'label', 'value');
}
