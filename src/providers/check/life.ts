/** The life of an instance and of its bindings, in the order in which it happens. */
import { setTimeout as delay } from 'node:timers/promises';
import {
  ContractViolation,
  isNotOffered,
  isSuccess,
  listOf,
  GONE,
  mustBe,
  mustBeGone,
  mustRefuse,
  mustSucceed,
  sameVariables,
  shown,
  Skipped,
  variablesOf,
} from './expect.ts';
import { type Check, pathOf, type CheckRun, UNIT } from './run.ts';

const UP_MS = 120_000;
const LOOK_EVERY_MS = 250;
const APP = 'check-one.example.com';
const OTHER_APP = 'check-two.example.com';

const CREATED = 'create: an instance';
const UP = 'status: the instance comes up';
const BOUND = 'bind-app: variables for the app';
const UNBOUND = 'unbind-app: the binding goes';
const REMOVED = 'remove: the instance goes';

const main = (run: CheckRun): string => run.name('main');

export const LIFE_CHECKS: readonly Check[] = [
  {
    name: 'plans: a list of names and descriptions',
    required: true,
    needs: ['it answers'],
    async work(run) {
      const reply = await run.call('GET', '/resources/plans');
      if (isNotOffered(reply)) return 'it has none';
      const plans = listOf(reply, 'name', 'description');
      run.plans = plans.map(({ name = '' }) => name);
      return run.plans.length === 0 ? 'there are none' : run.plans.join(', ');
    },
  },
  {
    name: CREATED,
    required: true,
    needs: ['it answers'],
    async work(run) {
      const reply = await run.create(main(run), { key: run.createKey });
      mustSucceed(reply);
      return reply.status === 201 ? '' : `${shown(reply)}; 201 is usual`;
    },
  },
  {
    name: 'create again with the same Idempotency-Key: no harm',
    required: false,
    needs: [CREATED],
    async work(run) {
      mustSucceed(await run.create(main(run), { key: run.createKey }));
    },
  },
  {
    name: 'create again with another Idempotency-Key: 409',
    required: false,
    needs: [CREATED],
    async work(run) {
      const reply = await run.create(main(run));
      if (reply.status === 409) return;
      throw new ContractViolation(`${shown(reply)}: two owners of one name could get at each other's data`);
    },
  },
  {
    name: UP,
    required: true,
    needs: [CREATED],
    async work(run) {
      const deadline = Date.now() + UP_MS;
      for (;;) {
        const reply = await run.call('GET', `${pathOf(main(run))}/status`);
        mustBe(reply, 200, 202, 204);
        if (reply.status !== 202) return;
        if (Date.now() > deadline) throw new ContractViolation(`still pending after ${UP_MS / 1000} s`);
        await delay(LOOK_EVERY_MS);
      }
    },
  },
  {
    name: 'info: a list of labels and values',
    required: true,
    needs: [CREATED],
    async work(run) {
      const reply = await run.call('GET', pathOf(main(run)));
      if (isNotOffered(reply) && run.holds(UP)) {
        run.hasInfo = false;
        return 'it has none';
      }
      const facts = listOf(reply, 'label', 'value');
      return facts.map(({ label = '' }) => label).join(', ');
    },
  },
  {
    name: BOUND,
    required: true,
    needs: [CREATED],
    async work(run) {
      let reply = await run.bind(main(run), APP, run.bindKey);
      if (reply.status === 404) {
        run.hasBindApp = false;
        reply = await run.bind(main(run), APP, run.bindKey);
      }
      run.variables = variablesOf(reply);
      const names = Object.keys(run.variables).join(', ');
      return run.hasBindApp ? names || 'it gives none' : `${names} (from bind; there is no bind-app)`;
    },
  },
  {
    name: 'bind-app again: the same variables, or others that work',
    required: true,
    needs: [BOUND],
    async work(run) {
      const again = variablesOf(await run.bind(main(run), APP, run.bindKey));
      if (Object.keys(again).sort().join() !== Object.keys(run.variables).sort().join()) {
        throw new ContractViolation('the second time there are other variables');
      }
      return sameVariables(again, run.variables) ? 'the same' : 'other values';
    },
  },
  {
    name: 'bind-app of a second app: credentials of its own',
    required: false,
    needs: [BOUND],
    async work(run) {
      const variables = variablesOf(await run.bind(main(run), OTHER_APP));
      const isSame = Object.keys(variables).length > 0 && sameVariables(variables, run.variables);
      if (isSame) throw new ContractViolation('both apps got the same: one cannot be shut out without the other');
    },
  },
  {
    name: 'bind: hears of a unit',
    required: true,
    needs: [BOUND],
    async work(run) {
      mustSucceed(await unitCall(run, 'POST'));
    },
  },
  {
    name: 'unbind: hears that a unit is gone, twice',
    required: true,
    needs: ['bind: hears of a unit'],
    async work(run) {
      mustSucceed(await unitCall(run, 'DELETE'));
      const again = await unitCall(run, 'DELETE');
      if (!isSuccess(again) && !GONE.includes(again.status))
        throw new ContractViolation(`the second time: ${shown(again)}`);
    },
  },
  {
    name: UNBOUND,
    required: true,
    needs: [BOUND],
    async work(run) {
      mustSucceed(await run.unbind(main(run), APP));
    },
  },
  {
    name: 'unbind-app again: no harm',
    required: true,
    needs: [UNBOUND],
    async work(run) {
      const reply = await run.unbind(main(run), APP);
      mustBeGone(reply);
    },
  },
  {
    name: 'bind-app after unbind-app: new credentials',
    required: false,
    needs: [UNBOUND],
    async work(run) {
      const variables = variablesOf(await run.bind(main(run), APP));
      mustSucceed(await run.unbind(main(run), APP));
      const isSame = Object.keys(variables).length > 0 && sameVariables(variables, run.variables);
      if (isSame) throw new ContractViolation('the old ones still work: unbinding takes nothing away');
    },
  },
  {
    name: 'a late unbind-app of an earlier binding: leaves the new one alone',
    required: false,
    needs: [UNBOUND],
    async work(run) {
      const earlier = run.bindingId(main(run), APP);
      const variables = variablesOf(await run.bind(main(run), APP));
      if (Object.keys(variables).length === 0) throw new Skipped('bindings give no variables');
      const again = variablesOf(await run.bind(main(run), APP));
      if (!sameVariables(variables, again)) throw new Skipped('each bind gives other values, so it cannot be seen');
      await run.unbind(main(run), APP, earlier);
      const after = variablesOf(await run.bind(main(run), APP));
      mustSucceed(await run.unbind(main(run), APP));
      if (!sameVariables(variables, after))
        throw new ContractViolation('the variables changed: X-Tancho-Binding-Id was not looked at');
    },
  },
  {
    name: REMOVED,
    required: true,
    needs: [CREATED],
    async work(run) {
      await run.unbind(main(run), OTHER_APP);
      mustSucceed(await run.remove(main(run)));
    },
  },
  {
    name: 'remove again: no harm',
    required: true,
    needs: [REMOVED],
    async work(run) {
      const reply = await run.remove(main(run));
      mustBeGone(reply);
    },
  },
  {
    name: 'after remove: the instance is unknown',
    required: true,
    needs: [REMOVED],
    async work(run) {
      mustBe(await run.call('GET', pathOf(main(run))), ...GONE);
      const reply = await run.bind(main(run), APP);
      if (isSuccess(reply)) throw new ContractViolation('it can still be bound');
    },
  },
  {
    name: 'a late create of a removed instance: refused',
    required: false,
    needs: [REMOVED],
    async work(run) {
      const reply = await run.create(main(run), { key: run.createKey });
      if (!isSuccess(reply)) {
        run.made.delete(main(run));
        return;
      }
      const info = await run.call('GET', pathOf(main(run)));
      if (isSuccess(info)) throw new ContractViolation('it is there again, and nobody knows of it');
    },
  },
  ...unknownChecks(),
];

function unitCall(run: CheckRun, method: 'POST' | 'DELETE') {
  if (!run.hasBindApp) throw new Skipped('there is no bind-app: bind gives the variables');
  const fields = { 'app-host': APP, 'app-name': 'check-one', 'unit-host': UNIT };
  return run.call(method, `${pathOf(main(run))}/bind`, { fields, idempotencyKey: run.key() });
}

function unknownChecks(): Check[] {
  const nobody = (run: CheckRun): string => run.name('nobody');
  return [
    {
      name: 'an unknown instance: info and status say 404',
      required: true,
      needs: ['it answers'],
      async work(run) {
        mustBe(await run.call('GET', pathOf(nobody(run))), ...GONE);
        mustBe(await run.call('GET', `${pathOf(nobody(run))}/status`), ...GONE);
      },
    },
    {
      name: 'an unknown instance: cannot be bound',
      required: true,
      needs: ['it answers'],
      async work(run) {
        mustRefuse(await run.bind(nobody(run), APP), 'bind-app');
      },
    },
    {
      name: 'an unknown instance: unbind-app and remove do no harm',
      required: true,
      needs: ['it answers'],
      async work(run) {
        for (const reply of [await run.unbind(nobody(run), APP), await run.remove(nobody(run))]) {
          mustBeGone(reply);
        }
      },
    },
  ];
}
