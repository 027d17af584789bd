/** One run of the checks: what was found, what was made and has to go, and the calls. */
import { randomUUID } from 'node:crypto';
import { randomHex } from '../../lib/ids.ts';
import { type ProviderCaller, type CallerOptions, createCaller, type CallResult } from './caller.ts';
import { ContractViolation, isSuccess, Skipped } from './expect.ts';

export interface CheckResult {
  readonly name: string;
  /** Whether a provider that does not hold to it is wrong, or only not as good as it could be. */
  readonly required: boolean;
  readonly result: 'holds' | 'fails' | 'skipped';
  /** '' when there is nothing to say. */
  readonly reason: string;
  readonly ms: number;
}

export interface Check {
  readonly name: string;
  readonly required: boolean;
  /** Names of checks that have to hold for this one to make sense. */
  readonly needs?: readonly string[];
  /** A text is a remark. Throws ContractViolation or Skipped. */
  work(run: CheckRun): Promise<string | void>;
}

/** Of an app that is bound; nothing listens there. */
export const UNIT = '127.0.0.1:40001';

export class CheckRun {
  readonly call: ProviderCaller;
  readonly options: CallerOptions;
  readonly results: CheckResult[] = [];
  /** Instances that may be there. */
  readonly made = new Set<string>();
  /** All that ever were. */
  readonly #everMade = new Set<string>();
  /** Plans the provider offers. */
  plans: readonly string[] = [];
  /** Whether the provider answers at bind-app; else variables come from bind. */
  hasBindApp = true;
  /** Whether it answers with facts about its instances. */
  hasInfo = true;
  variables: Readonly<Record<string, string>> = {};
  /** In milliseconds. */
  slowest = 0;
  /** Of the first instance and its first binding: each repeat of the step carries it. */
  readonly createKey = this.key();
  readonly bindKey = this.key();
  readonly #instanceIds = new Map<string, string>();
  readonly #bindingIds = new Map<string, string>();
  readonly #unbound = new Set<string>();
  readonly #tag = randomHex(6);
  readonly #progress: (result: CheckResult) => void;

  constructor(options: CallerOptions, progress: (result: CheckResult) => void) {
    this.options = options;
    this.#progress = progress;
    this.call = createCaller(options, ({ ms }: CallResult) => (this.slowest = Math.max(this.slowest, ms)));
  }

  /** Not used by anybody else. */
  name(about: string): string {
    return `check-${this.#tag}-${about}`;
  }

  key(): string {
    return `check-${randomHex(24)}`;
  }

  create(instance: string, more: { plan?: string; key?: string } = {}): Promise<CallResult> {
    this.made.add(instance);
    this.#everMade.add(instance);
    const plan = more.plan ?? this.plans[0] ?? '';
    const fields = { name: instance, user: 'check@example.com', team: 'check', ...(plan === '' ? {} : { plan }) };
    const headers = this.#ids(instance);
    return this.call('POST', '/resources', { fields, headers, idempotencyKey: more.key ?? this.key() });
  }

  bind(instance: string, app: string, key = this.key()): Promise<CallResult> {
    const binding = `${instance} ${app}`;
    if (this.#unbound.delete(binding)) this.#bindingIds.delete(binding);
    const headers = { ...this.#ids(instance), 'x-tancho-binding-id': this.bindingId(instance, app) };
    const fields = this.#bindFields(app);
    const path = `${pathOf(instance)}/${this.hasBindApp ? 'bind-app' : 'bind'}`;
    return this.call('POST', path, { fields, headers, idempotencyKey: key });
  }

  /** `id`: of another binding than the one that is there. */
  unbind(instance: string, app: string, id?: string): Promise<CallResult> {
    const headers = { ...this.#ids(instance), 'x-tancho-binding-id': id ?? this.bindingId(instance, app) };
    if (id === undefined) this.#unbound.add(`${instance} ${app}`);
    const fields = this.#bindFields(app);
    const path = `${pathOf(instance)}/${this.hasBindApp ? 'bind-app' : 'bind'}`;
    return this.call('DELETE', path, { fields, headers, idempotencyKey: this.key() });
  }

  /** Where apps are bound by their units, the platform names one of them. */
  #bindFields(app: string): Record<string, string> {
    const unit: Record<string, string> = this.hasBindApp ? {} : { 'unit-host': UNIT };
    return { 'app-host': app, 'app-name': app.split('.')[0] ?? app, ...unit };
  }

  holds(check: string): boolean {
    return this.results.some(({ name, result }) => name === check && result === 'holds');
  }

  /** Of the binding that is there, or was last. */
  bindingId(instance: string, app: string): string {
    const binding = `${instance} ${app}`;
    const id = this.#bindingIds.get(binding) ?? randomUUID();
    this.#bindingIds.set(binding, id);
    return id;
  }

  #ids(instance: string): Record<string, string> {
    const id = this.#instanceIds.get(instance) ?? randomUUID();
    this.#instanceIds.set(instance, id);
    return { 'x-tancho-instance-id': id, 'x-request-id': this.key(), 'x-tsuru-user': 'check@example.com' };
  }

  async remove(instance: string): Promise<CallResult> {
    const reply = await this.call('DELETE', pathOf(instance), {
      headers: this.#ids(instance),
      idempotencyKey: this.key(),
    });
    if (isSuccess(reply) || [404, 410].includes(reply.status)) this.made.delete(instance);
    return reply;
  }

  /** Those that the provider still knows, though it said that they are gone. */
  async remaining(): Promise<string[]> {
    const knownTo = async (name: string): Promise<boolean> => isSuccess(await this.call('GET', pathOf(name)));
    if (await knownTo(this.name('never-made'))) return [];
    const found: string[] = [];
    // Of what was refused, "plans" and ".." are other resources.
    const own = [...this.#everMade].filter((name) => name.startsWith('check-') && !this.made.has(name));
    for (const name of own) if (await knownTo(name)) found.push(name);
    return found;
  }

  async perform(check: Check): Promise<void> {
    const begun = performance.now();
    const [result, reason] = await this.#outcome(check);
    const { name, required } = check;
    const ms = Math.round(performance.now() - begun);
    const done = { name, required, result, reason, ms };
    this.results.push(done);
    this.#progress(done);
  }

  async #outcome(check: Check): Promise<[CheckResult['result'], string]> {
    const missing = check.needs?.find((name) => !this.holds(name));
    if (missing !== undefined) return ['skipped', `needs "${missing}"`];
    try {
      return ['holds', (await check.work(this)) ?? ''];
    } catch (error) {
      if (error instanceof Skipped) return ['skipped', error.message];
      if (error instanceof ContractViolation) return ['fails', error.message];
      throw error;
    }
  }
}

export function pathOf(instance: string): string {
  return `/resources/${encodeURIComponent(instance)}`;
}
