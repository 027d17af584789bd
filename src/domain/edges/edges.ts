/** Use cases of edges elsewhere: which there are, their tokens, and what follows. */
import { demand } from '../access.ts';
import type { Caller } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { SettingReader, Store } from '../store.ts';
import type { EdgeCarrier } from './edge-line.ts';
import { EDGE_PREFIX } from '../controls/edge-prefix.ts';
import type { EdgeRecord, EdgeRecords } from './edge-records.ts';
import type { EdgeStreams } from './edge-streams.ts';
import { EDGE_NAME, type EdgeTokens, isEdgeToken, NAME_RULE } from './edge-tokens.ts';
import type { EdgeGreeting } from './remote-edge.ts';

export interface EdgeView extends EdgeRecord {
  /** Its lease has not ended. */
  readonly isAlive: boolean;
  /** Version of the table that it serves by; null: it follows another server than the one that is asked. */
  readonly table: number | null;
}

export interface Edges {
  readonly tokens: EdgeTokens;
  /** For admins; by name. Those that were lost in the last day are among them. */
  list(caller: Caller): Promise<EdgeView[]>;
  /** Has an edge follow, once somebody carries its connection; that resolves when the stream has ended. Errors: auth.required, input.invalid. */
  admit(token: string, greeting: EdgeGreeting): Promise<(carrier: EdgeCarrier) => Promise<void>>;
}

interface EdgesDeps {
  readonly store: SettingReader & Pick<Store, 'leases'>;
  readonly tokens: EdgeTokens;
  readonly records: Pick<EdgeRecords, 'all'>;
  readonly streams: Pick<EdgeStreams, 'attached' | 'carry'>;
}

const INSTANCE = /^[0-9a-f]{16,64}$/;
const LONGEST_PROGRAM = 64;

export function createEdges({ store, tokens, records, streams }: EdgesDeps): Edges {
  return {
    tokens,

    async list(caller) {
      demand(caller, 'edge.list');
      const [known, leases] = await Promise.all([records.all(), store.leases(EDGE_PREFIX)]);
      // Of a server that has died nobody notes what it has lost.
      const alive = new Set(leases.filter(({ isExpired }) => !isExpired).map(({ key }) => key));
      const views = known.map((one) => ({
        ...one,
        isAlive: one.lostAt === null && alive.has(EDGE_PREFIX + one.name),
        table: streams.attached.get(one.name)?.tableVersion ?? null,
      }));
      return views.sort((one, other) => (one.name < other.name ? -1 : 1));
    },

    async admit(token, greeting) {
      const isAdmitted = (): Promise<boolean> => isEdgeToken(store, token);
      if (!(await isAdmitted())) {
        throw new PlatformError('auth.required', 'This is no token of an edge.', {
          hint: 'An admin makes one with "tancho edge token-create <name>".',
        });
      }
      const { name, instance, program } = greeting;
      if (!EDGE_NAME.test(name) || !INSTANCE.test(instance) || program.length > LONGEST_PROGRAM)
        throw new PlatformError('input.invalid', 'An edge says its name and its instance.', { hint: NAME_RULE });
      return (carrier) => streams.carry({ greeting, carrier, isAdmitted });
    },
  };
}
