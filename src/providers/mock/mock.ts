/**
 * A provider that keeps everything in memory and misbehaves on demand: for tests of what uses providers, in this
 * process or as `tancho provider mock`. Reports what it was asked, and what there really is.
 */
import type { IncomingMessage } from 'node:http';
import type { ProviderAnswer } from '../answer.ts';
import {
  instanceExists,
  isAnother,
  type Operation,
  type ProviderHandlers,
  stepUndone,
  unknownInstance,
} from '../contract.ts';
import { ProviderError } from '../contract.ts';
import { BadRequest, type Credentials } from '../request.ts';
import { newPassword } from '../sealed-passwords.ts';
import { type ProviderExchange, type RunningProvider, serveProvider } from '../serve.ts';
import { misbehave } from './misdeeds.ts';
import { createRuleBook, parseRule, type Rule } from './rules.ts';

const MOST_ASKED = 10_000;
const CONTROL = '/_mock';
const PLANS = [
  { name: 'small', description: 'Enough to try' },
  { name: 'large', description: 'Enough for more' },
];

export interface MockInstance {
  readonly name: string;
  readonly key: string;
  readonly id: string;
  readonly plan: string;
  readonly team: string;
  /** By app. */
  readonly bindings: Map<string, MockBinding>;
}

export interface MockBinding {
  readonly app: string;
  readonly key: string;
  id: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly units: Set<string>;
}

export interface RecordedCall {
  readonly operation: Operation;
  readonly instance: string;
  readonly fields: Readonly<Record<string, readonly string[]>>;
  readonly idempotencyKey: string;
  /** The misdeed that a rule demanded then; '' when it behaved. */
  readonly did: string;
}

export interface MockProvider extends RunningProvider, Credentials {
  /** What there really is. */
  readonly instances: ReadonlyMap<string, MockInstance>;
  /** The latest calls, oldest first. */
  readonly asked: readonly RecordedCall[];
  addRule(rule: Rule): void;
  /** Takes all rules back. */
  behave(): void;
}

export interface MockOptions extends Partial<Credentials> {
  readonly host?: string;
  /** Default 0: any free port. */
  readonly port?: number;
  readonly rules?: readonly Rule[];
  /** Of a new binding; some of its own when absent. */
  readonly variables?: (instance: string, app: string) => Readonly<Record<string, string>>;
  readonly log?: (line: string) => void;
  /** Ends this process; absent where it is not the mock's own. */
  readonly exit?: () => void;
}

export async function startMockProvider(options: MockOptions = {}): Promise<MockProvider> {
  const { username = 'mock', password = newPassword(), log = () => {} } = options;
  const instances = new Map<string, MockInstance>();
  const asked: RecordedCall[] = [];
  const rules = createRuleBook();
  for (const rule of options.rules ?? []) rules.add(rule);

  async function around(
    exchange: ProviderExchange,
    run: () => Promise<ProviderAnswer>,
  ): Promise<ProviderAnswer | null> {
    const rule = rules.take(exchange.operation);
    const { operation, instance, idempotencyKey } = exchange;
    asked.push({
      operation,
      instance,
      fields: Object.fromEntries(exchange.fields),
      idempotencyKey,
      did: rule?.do ?? '',
    });
    if (asked.length > MOST_ASKED) asked.shift();
    log(describe(exchange, rule));
    if (rule === null) return run();
    const forget = (): void => instances.clear();
    return misbehave(rule, exchange, run, {
      lie,
      forget,
      ...(options.exit === undefined ? {} : { exit: options.exit }),
    });
  }

  async function control(request: IncomingMessage, path: string): Promise<ProviderAnswer | null> {
    if (path !== CONTROL) return null;
    if (request.method === 'POST') {
      try {
        rules.add(parseRule(JSON.parse(await bodyOf(request))));
      } catch (error) {
        throw new BadRequest(400, error instanceof Error ? error.message : String(error));
      }
    } else if (request.method === 'DELETE') {
      rules.clear();
    } else if (request.method !== 'GET') {
      return {
        status: 405,
        body: 'GET shows the rules, POST adds a rule, DELETE takes all back.',
        headers: { allow: 'GET, POST, DELETE' },
      };
    }
    return { status: 200, body: { rules: rules.list(), instances: [...instances.values()].map(plain), asked } };
  }

  const handlers = memoryHandlers(instances, options.variables ?? variablesFor);
  const { host = '127.0.0.1', port = 0 } = options;
  const server = await serveProvider({ host, port, username, password, handlers, around, beyond: control, stopMs: 0 });
  return { ...server, username, password, instances, asked, addRule: rules.add, behave: rules.clear };
}

/** Without the values of variables. */
function describe({ operation, instance, fields }: ProviderExchange, rule: Rule | null): string {
  const shown = [...fields].map(([name, values]) => `${name}=${JSON.stringify(values.join(','))}`).join(' ');
  return [operation, instance, shown, rule === null ? '' : `-> ${rule.do}`].filter((part) => part !== '').join(' ');
}

function plain({ bindings, ...instance }: MockInstance): object {
  return { ...instance, bindings: [...bindings.values()].map(({ units, ...one }) => ({ ...one, units: [...units] })) };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request as AsyncIterable<Buffer>) {
    text += chunk.toString();
    if (text.length > 10_000) throw new Error('A rule is shorter.');
  }
  return text;
}

function memoryHandlers(
  instances: Map<string, MockInstance>,
  variablesOf: NonNullable<MockOptions['variables']>,
): ProviderHandlers {
  const undone = new Set<string>();
  const find = (name: string): MockInstance => {
    const instance = instances.get(name);
    if (instance === undefined) throw unknownInstance(name);
    return instance;
  };
  const forget = (key: string): void => {
    if (key !== '') undone.add(key);
    if (undone.size > MOST_ASKED) undone.delete([...undone][0] ?? '');
  };
  return {
    plans: async () => PLANS,
    async create({ instance: name, instanceId: id, idempotencyKey: key, plan, team }) {
      if (plan !== '' && !PLANS.some((one) => one.name === plan)) {
        throw new ProviderError('invalid', `There is no plan "${plan}".`);
      }
      const found = instances.get(name);
      if (found !== undefined && (key === '' || found.key !== key)) throw instanceExists(name);
      if (found !== undefined) return;
      if (undone.has(key) || undone.has(id)) throw stepUndone();
      instances.set(name, { name, key, id, plan, team, bindings: new Map() });
    },
    async info(name) {
      const { plan, team, bindings } = find(name);
      return [
        { label: 'Plan', value: plan },
        { label: 'Team', value: team },
        { label: 'Bound apps', value: [...bindings.keys()].sort().join(', ') },
      ];
    },
    async status(name) {
      find(name);
      return 'up';
    },
    async bind({ instance: name, app, bindingId: id, idempotencyKey: key }) {
      const { bindings } = find(name);
      const found = bindings.get(app);
      if (undone.has(key) || undone.has(id)) throw stepUndone();
      if (found !== undefined) {
        found.id = id || found.id;
        return found.variables;
      }
      const variables = variablesOf(name, app);
      bindings.set(app, { app, key, id, variables, units: new Set() });
      return variables;
    },
    async unbind({ instance: name, app, bindingId }) {
      forget(bindingId);
      const { bindings } = find(name);
      const found = bindings.get(app);
      if (found === undefined || isAnother(bindingId, found.id)) return;
      forget(found.key);
      bindings.delete(app);
    },
    async bindUnit({ instance: name, app, unit }) {
      find(name).bindings.get(app)?.units.add(unit);
    },
    async unbindUnit({ instance: name, app, unit }) {
      find(name).bindings.get(app)?.units.delete(unit);
    },
    async remove({ instance: name, instanceId }) {
      forget(instanceId);
      const { key, id, bindings } = find(name);
      if (isAnother(instanceId, id)) throw unknownInstance(name);
      for (const binding of bindings.values()) forget(binding.key);
      forget(key);
      instances.delete(name);
    },
  };
}

function variablesFor(instance: string): Record<string, string> {
  const password = newPassword();
  const address = `mock://${encodeURIComponent(instance)}:${password}@mock.invalid/`;
  return { MOCK_URL: address, MOCK_USER: instance, MOCK_PASSWORD: password };
}

function lie({ operation, instance }: ProviderExchange): ProviderAnswer {
  switch (operation) {
    case 'plans':
      return { status: 200, body: [{ name: 'imaginary', description: 'There is no such plan' }] };
    case 'info':
      return { status: 200, body: [{ label: 'State', value: 'Never better' }] };
    case 'status':
      return { status: 204 };
    case 'bind':
      return { status: 201, body: variablesFor(instance) };
    default:
      return { status: operation === 'create' || operation === 'bindUnit' ? 201 : 200 };
  }
}
