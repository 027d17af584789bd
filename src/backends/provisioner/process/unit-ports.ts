/** Which port a process gets: one of its own network, or one of the machine that nobody else gets. */
import type { UnitSpec } from '../../../domain/units/provisioner.ts';
import { Failure } from '../../../domain/failure.ts';
import { KeyedQueue } from '../../../lib/keyed-queue.ts';
import { assignedPort } from './own-ports.ts';
import { choosePort, DEFAULT_PORT_RANGE, isFree, type PortRange } from './ports.ts';
import type { Sandbox } from '../../../sandbox/sandbox.ts';
import type { LiveUnit } from './live-unit.ts';
import { endGreedy, portHolders } from './port-holders.ts';
import type { Slug } from './slug.ts';

interface UnitPortsOptions {
  /** Of the machine; null: the usual one. */
  readonly range: PortRange | null;
  /** Every process has a network of its own. */
  readonly isOwn: boolean;
  /** Those on record. */
  readonly units: () => readonly LiveUnit[];
  readonly sandbox: Pick<Sandbox, 'pids' | 'kill'>;
}

interface Of {
  readonly spec: UnitSpec;
  readonly slug: Slug;
}

export class UnitPorts {
  readonly #options: UnitPortsOptions;
  readonly #queue = new KeyedQueue();
  /** Chosen for units that have no record yet. */
  readonly #promised = new Set<number>();

  constructor(options: UnitPortsOptions) {
    this.#options = options;
  }

  /** In the network of the machine the unit's former port when it is still free. Nobody else gets it, until begun(). */
  async ofUnit(former: number | null, of: Of): Promise<number> {
    const own = this.#own(of);
    if (own !== null) return own;
    if (former !== null && (await isFree(former))) return former;
    return this.#queue.run('ports', async () => {
      const port = await this.#free();
      this.#promised.add(port);
      return port;
    });
  }

  /** The unit has a record. */
  begun(port: number): void {
    this.#promised.delete(port);
  }

  /** Of a command, which may read it at its start although it never listens. */
  async beside(of: Of): Promise<number> {
    return this.#own(of) ?? this.#free();
  }

  #own({ spec, slug }: Of): number | null {
    return this.#options.isOwn ? assignedPort(spec.env, slug.manifest.image?.ports ?? []) : null;
  }

  async #free(): Promise<number> {
    const range = this.#options.range ?? DEFAULT_PORT_RANGE;
    const { units, sandbox } = this.#options;
    const taken = (): number[] => units().flatMap(({ record }) => record.port ?? []);
    const choose = () => choosePort(range, new Set([...this.#promised, ...taken()]));
    const makeRoom = async (): Promise<boolean> => endGreedy(await portHolders(units(), range, sandbox), sandbox);
    const port = (await choose()) ?? ((await makeRoom()) ? await choose() : null);
    if (port !== null) return port;
    throw new Failure('no_port', `All ports of this machine from ${range.from} to ${range.to} are in use.`, {
      hint: 'Ask the operator who listens on them (ss -ltnp), and for networks of their own for apps (docs/isolation.md), where there is no such bound.',
    });
  }
}
