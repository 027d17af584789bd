/** Pure: the packet filter of a home, from what is noted about its networks. */
import { addressAt, type AddressPlan, unitPlace } from './address-plan.ts';
import type { NetworkNote } from './network-notes.ts';
import type { HomeRules } from './rules.ts';
import type { NotedLink } from './tenant-links.ts';

type Settings = Pick<HomeRules, 'allowed' | 'resolvers' | 'uids' | 'unreached'>;

interface Noted {
  readonly notes: readonly NetworkNote[];
  readonly links: readonly NotedLink[];
}

export function homeRules(plan: AddressPlan, { notes, links }: Noted, settings: Settings): HomeRules {
  const placeOf = ({ index }: NetworkNote): { address: string; link: string } => unitPlace(plan, index);
  const addresses = new Map(notes.flatMap((note) => (note.id === null ? [] : [[note.id, placeOf(note).address]])));
  const units = notes.map((note) => {
    const { address, link } = placeOf(note);
    const translated = note.forwards.map(({ standIn, protocol, port }) => ({ address: standIn, protocol, port }));
    const tenant = note.id === null ? null : note.tenant;
    const endpoints = [...note.endpoints, ...translated];
    return { address, link, since: note.since ?? 0, tenant, endpoints, local: note.local };
  });
  return {
    ...settings,
    units,
    links: links.map(({ tenant, from, index, targets }) => ({
      tenant,
      from,
      address: addressAt(plan, index),
      targets: targets.flatMap(({ id, port }) => {
        const address = addresses.get(id);
        return address === undefined ? [] : [{ address, port }];
      }),
    })),
    standIns: new Map(notes.flatMap(({ forwards }) => forwards).map(({ standIn, from }) => [standIn, from])),
  };
}
