import { expect, it } from 'vitest';
import type { Provisioner, UnitSpec } from '../../domain/units/provisioner.ts';
import { provisionerConformance } from './conformance.ts';
import { NEVER, SERVES, UNLIMITED } from './conformance-suite.ts';
import { createEngines } from './engines.ts';
import { MEMORY_COMMANDS } from './memory/memory-commands.ts';
import { createMemoryProvisioner, MemoryMachine } from './memory/memory-provisioner.ts';
import { createProcessWorld, openLevel } from './process/provisioner-world.ts';

const ELSEWHERE = { engine: 'elsewhere', options: {} };

function opened() {
  const [here, there] = [new MemoryMachine(), new MemoryMachine()];
  const open = () =>
    createEngines(
      new Map([
        ['here', createMemoryProvisioner(here)],
        ['elsewhere', createMemoryProvisioner(there)],
      ]),
    );
  return { here, there, open };
}

for (const placement of [null, ELSEWHERE]) {
  provisionerConformance(`engines (${placement?.engine ?? "the server's own"})`, {
    create: async () => {
      const { here, there, open } = opened();
      let current = open();
      return {
        provisioner: current,
        artifact: 'any',
        placement,
        commands: MEMORY_COMMANDS,
        restart: async () => {
          await current.close();
          current = open();
          return current;
        },
        killBehind: async (id) => {
          await Promise.all([here.kill(id), there.kill(id)]);
        },
        dispose: async () => {
          await current.close();
          await Promise.all([here.dispose(), there.dispose()]);
        },
      };
    },
    supports: { memoryLimit: true, shell: true },
    isCheap: true,
  });
}

function spec(id: string, changes: Partial<UnitSpec> = {}): UnitSpec {
  const own = { id, app: 'shop', name: 'shop/0', process: 'web', artifact: 'any', command: 'serve' };
  return { ...own, env: {}, listens: true, limits: UNLIMITED, ...changes };
}

it('starts each unit on the engine of its placement, and sees those of all', async () => {
  const { here, there, open } = opened();
  const engines = open();
  const [one, two] = [spec('aaaaaaaaaaaa'), spec('bbbbbbbbbbbb', { placement: ELSEWHERE })];
  const handles = [await engines.ensure(one), await engines.ensure(two)];
  await Promise.all([one, two].map(({ id }) => engines.ready(id, SERVES, NEVER)));
  expect([[...here.entries.keys()], [...there.entries.keys()]]).toEqual([[one.id], [two.id]]);
  expect((await engines.list()).map(({ id }) => id)).toEqual([one.id, two.id]);
  expect([...(await engines.usage()).keys()]).toEqual([one.id, two.id]);

  const exits: string[] = [];
  await engines.close();
  const next = open();
  next.onExit(({ id }) => exits.push(id));
  const known = new Map([one.id, two.id].map((id, at) => [id, handles[at] ?? '']));
  expect(await next.recover(known)).toEqual(new Set([one.id, two.id]));
  await next.stop(two.id, 0);
  await expect.poll(() => exits).toEqual([two.id]);
  expect((await next.list()).map(({ state }) => state)).toEqual(['running', 'ended']);
  await Promise.all([here.dispose(), there.dispose()]);
});

it('ends a unit that it knows neither from a start nor from a handle', async () => {
  const { there, open } = opened();
  await open().ensure(spec('bbbbbbbbbbbb', { placement: ELSEWHERE }));
  const next = open();
  await next.stop('bbbbbbbbbbbb', 0);
  expect((await next.list()).map(({ state }) => state)).toEqual(['ended']);
  await next.remove('bbbbbbbbbbbb');
  expect(await next.list()).toEqual([]);
  await there.dispose();
});

it('informs apps of links to units of their own engine only', async () => {
  const { here, there, open } = opened();
  const engines = open();
  await engines.ensure(spec('aaaaaaaaaaaa'));
  await engines.ensure(spec('bbbbbbbbbbbb', { placement: ELSEWHERE }));
  const targets = ['aaaaaaaaaaaa', 'bbbbbbbbbbbb'].map((unit) => ({ unit, port: 80 }));
  await engines.link([{ app: 'shop', from: ['cart'], targets }]);
  expect([here, there].map(({ links }) => links.flatMap((link) => link.targets))).toEqual([[targets[0]], [targets[1]]]);
  await Promise.all([here.dispose(), there.dispose()]);
});

it('refuses an engine that is not there any more, and says what can be done', async () => {
  const gone = { engine: 'gone', options: {} };
  const engines = opened().open();
  const refusal = { code: 'unavailable', hint: expect.stringContaining('--pool') as string };
  expect(() => engines.at(gone)).toThrow(expect.objectContaining(refusal) as Error);
  await expect(engines.ensure(spec('cccccccccccc', { placement: gone }))).rejects.toMatchObject(refusal);
});

it('finds units again by handles of the time when what is its own now was beside another one', async () => {
  const machine = new MemoryMachine();
  const before = createEngines(
    new Map([
      ['process', createMemoryProvisioner(new MemoryMachine())],
      ['prod', createMemoryProvisioner(machine)],
    ]),
  );
  const id = 'cccccccccccc';
  const handle = await before.ensure(spec(id, { placement: { engine: 'prod', options: {} } }));
  await before.close();
  const after = createEngines(new Map([['prod', createMemoryProvisioner(machine)]]));
  expect(await after.recover(new Map([[id, handle]]))).toEqual(new Set([id]));
  await after.close();
  await machine.dispose();
});

it('says which run units on the machine of a control', () => {
  const far = createMemoryProvisioner(new MemoryMachine());
  const supports = { ...far.supports, controls: 'one' as const };
  const near = Object.assign(createMemoryProvisioner(new MemoryMachine()), { supports });
  expect(createEngines(new Map([['far', far]])).here).toEqual([]);
  const both = new Map<string, Provisioner>([
    ['far', far],
    ['near', near],
  ]);
  expect(createEngines(both).here).toEqual([near]);
});

it('a command whose last output cannot be taken has not succeeded, whatever its engine says', async () => {
  const problem = new Error('It cannot be stored.');
  const exec: Provisioner['exec'] = ({ output }) => {
    output(Buffer.from('the last line'));
    return Promise.resolve({ code: 0, signal: null });
  };
  const engine = Object.assign(createMemoryProvisioner(new MemoryMachine()), { exec });
  const engines = createEngines(new Map([['far', engine]]));
  const output = (): never => {
    throw problem;
  };
  const request = { unit: spec('aaaaaaaaaaaa'), command: 'true', output, signal: NEVER, timeoutMs: 600_000 };
  await expect(engines.exec(request)).rejects.toBe(problem);
});

it('ends a command or a shell whose output cannot be taken, and nothing else', async () => {
  const level = await openLevel('plain', 'shared');
  if (typeof level === 'string') throw new Error(level);
  const world = await createProcessWorld(level);
  const problem = new Error('It cannot be shown.');
  const reported: object[] = [];
  const logger = { error: (fields: object) => void reported.push(fields) };
  const engines = createEngines(new Map([['process', world.provisioner]]), logger);
  const output = (): never => {
    throw problem;
  };
  const unit = spec('aaaaaaaaaaaa', { artifact: world.artifact, listens: false });
  try {
    const command = 'echo hello; exec sleep 1000';
    await expect(engines.exec({ unit, command, output, signal: NEVER, timeoutMs: 600_000 })).rejects.toBe(problem);
    const shell = await engines.shell({ unit, term: 'xterm', size: null, output, signal: NEVER });
    await shell.write(Buffer.from('echo hello; exec sleep 1000\n'));
    expect(await shell.ended).toMatchObject({ signal: 'SIGKILL' });
    expect(reported).toEqual([{ err: problem }]);
  } finally {
    await world.dispose();
    await level.dispose();
  }
});
