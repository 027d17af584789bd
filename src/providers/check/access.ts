/** Who is let in. */
import { randomHex } from '../../lib/ids.ts';
import { ContractViolation, isSuccess, shown, Skipped } from './expect.ts';
import { type Check, pathOf, type CheckRun } from './run.ts';

const REFUSED = [401, 403];

export const ACCESS_CHECKS: readonly Check[] = [
  {
    name: 'it answers',
    required: true,
    async work(run) {
      const reply = await run.call('GET', '/resources/plans');
      if (reply.status === 0) throw new ContractViolation(reply.text);
      if (REFUSED.includes(reply.status))
        throw new ContractViolation(`${shown(reply)}: give --username and --password`);
      if (reply.status >= 300 && reply.status < 400)
        throw new ContractViolation('it redirects; the platform does not follow');
    },
  },
  {
    name: 'no credentials: refused',
    required: true,
    needs: ['it answers'],
    work: (run) => mustBeRefused(run, null),
  },
  {
    name: 'a wrong password: refused',
    required: true,
    needs: ['it answers'],
    work: (run) => mustBeRefused(run, { username: usernameOf(run), password: randomHex(32) }),
  },
  {
    name: 'a wrong username: refused',
    required: false,
    needs: ['it answers'],
    work: (run) => mustBeRefused(run, { username: randomHex(16), password: run.options.credentials?.password ?? '' }),
  },
];

function usernameOf(run: CheckRun): string {
  return run.options.credentials?.username ?? '';
}

/** Also where it would do something: being refused has to come before doing. */
async function mustBeRefused(run: CheckRun, credentials: { username: string; password: string } | null): Promise<void> {
  if (run.options.credentials === null) throw new Skipped('the check itself was given no credentials');
  const name = run.name('uninvited');
  const tries = [
    ['GET', '/resources/plans', {}],
    ['POST', '/resources', { name, user: 'check@example.com', team: 'check' }],
    ['DELETE', pathOf(name), {}],
  ] as const;
  for (const [method, path, fields] of tries) {
    const reply = await run.call(method, path, { fields, credentials, idempotencyKey: run.key() });
    if (method === 'POST' && isSuccess(reply)) run.made.add(name);
    if (!REFUSED.includes(reply.status))
      throw new ContractViolation(`${method} ${path}: ${shown(reply)}, expected 401`);
  }
}
