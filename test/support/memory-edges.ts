/** Edges on other machines for tests of the API alone: one follows, and one is lost. */
import { demand } from '../../src/domain/access.ts';
import type { Act } from '../../src/domain/act.ts';
import { createEdgeTokens } from '../../src/domain/edges/edge-tokens.ts';
import { createEdges, type Edges } from '../../src/domain/edges/edges.ts';
import type { SettingReader, SettingWriter } from '../../src/domain/store.ts';

export function edgesIn(): Edges {
  const settings = new Map<string, string>();
  const tx: SettingReader & SettingWriter = {
    setting: async (key) => settings.get(key) ?? null,
    setSetting: async (key, value) => void settings.set(key, value),
  };
  const store = { ...tx, transact: <T>(work: (writer: typeof tx) => Promise<T>): Promise<T> => work(tx) };
  const act: Act = async (caller, action, subject, _options, work) => {
    demand(caller, action, subject);
    return work();
  };
  const since = '2026-01-01T00:00:00.000Z';
  const common = { program: '0.1.0', address: '192.0.2.7', server: 'one', since };
  const known = [
    { ...common, name: 'oslo', instance: '11'.repeat(8), lostAt: null },
    { ...common, name: 'rome', instance: '22'.repeat(8), lostAt: since },
  ];
  return createEdges({
    store: { ...store, leases: async () => [{ key: 'edge:oslo', owner: 'a', isExpired: false }] },
    tokens: createEdgeTokens({ store, act, now: () => new Date(since) }),
    records: { all: async () => known },
    streams: { attached: new Map(), carry: async () => {} },
  });
}
