/** Pure: who may reach the pods of a group, and whom they reach: what is bound, names, and what is not of this house. */
import { isIP } from 'node:net';
import type { NetworkPolicy } from '../../../kubernetes/objects.ts';
import type { UnitSpec } from '../../../domain/units/provisioner.ts';
import type { KubernetesSettings } from './kubernetes-settings.ts';

type Ports = NonNullable<NonNullable<NetworkPolicy['spec']['egress']>[number]['ports']>;

const EVERYWHERE = '0.0.0.0/0';
/** Where machines of the house are, of a cluster above all. */
const PRIVATE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', '169.254.0.0/16'];
const NAMES: Ports = [
  { port: 53, protocol: 'UDP' },
  { port: 53, protocol: 'TCP' },
];

/** `port`: where they listen; null: nowhere. */
export function policySpec(
  podSelector: NetworkPolicy['spec']['podSelector'],
  { services = [] }: Pick<UnitSpec, 'services'>,
  port: number | null,
  { reachedFrom }: KubernetesSettings,
): NetworkPolicy['spec'] {
  const bound = services.filter(({ host }) => isIP(host) !== 0);
  const ports: Ports = port === null ? [] : [{ port, protocol: 'TCP' }];
  const visitors = port === null ? [] : reachedFrom.map((cidr) => ({ from: [{ ipBlock: { cidr } }], ports }));
  return {
    podSelector,
    policyTypes: ['Ingress', 'Egress'],
    ingress: visitors,
    egress: [
      { ports: NAMES },
      { to: [{ ipBlock: { cidr: EVERYWHERE, except: PRIVATE } }] },
      ...bound.map(({ host, port: at }): { to: { ipBlock: { cidr: string } }[]; ports: Ports } => ({
        to: [{ ipBlock: { cidr: `${host}/${isIP(host) === 6 ? 128 : 32}` } }],
        ports: [{ port: at, protocol: 'TCP' }],
      })),
    ],
  };
}
