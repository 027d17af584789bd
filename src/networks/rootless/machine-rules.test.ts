import { expect, it } from 'vitest';
import { addressPlan, DOORS } from '../address-plan.ts';
import { gatewayRules, type HomeRules } from '../rules.ts';
import { isPastaOfNobody } from './left-behind.ts';
import { ownMachineRules } from './machine-rules.ts';
import { doorHostOf, listeningPorts } from './own-machine.ts';

const PLAN = addressPlan('0a1b2c3d', '100.64.16.0');
const HOME: HomeRules = {
  units: [],
  links: [],
  allowed: [],
  unreached: ['192.0.2.7'],
  resolvers: [],
  standIns: new Map([
    ['100.64.16.3', '127.0.0.1'],
    ['100.64.16.4', '127.0.0.53'],
  ]),
  uids: [1000],
};

it('lead a door to one port of one unit', () => {
  const rules = ownMachineRules(PLAN, HOME, [{ door: 16_001, address: '100.64.16.65', port: 80 }], 'wan0');
  expect(rules).toContain('elements = { 16001 : 100.64.16.65 . 80 }');
  expect(ownMachineRules(PLAN, HOME, [], 'wan0')).not.toContain('elements');
});

it("translate the machine's loopback, of its other loopback addresses the name server only", () => {
  const rules = ownMachineRules(PLAN, HOME, [], 'wan0');
  expect(rules).toContain('iifname "tnc-0a1b2c3d" ip daddr 100.64.16.3 dnat to 100.64.16.61');
  expect(rules).toContain('ip daddr 100.64.16.4 udp dport 53 dnat to 100.64.16.61');
  expect(rules).not.toContain('ip daddr 100.64.16.4 dnat');
});

it('refuse the addresses of the machine to all units', () => {
  expect(gatewayRules(PLAN, HOME)).toMatch(/set never \{[^}]*192\.0\.2\.7/);
});

it('knows a door by its address, its port and its user', () => {
  const row = (local: string, state: string, uid: number): string =>
    `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000  ${uid}        0 4711 1 x`;
  const table = [
    '  sl  local_address rem_address   st ...',
    row('029D977F:3E80', '0A', 1000),
    row('029D977F:3E81', '0A', 1001),
    row('029D977F:3E82', '01', 1000),
    row('00000000:3E83', '0A', 1000),
  ].join('\n');
  expect([...listeningPorts(table, '127.151.157.2', 1000)]).toEqual([DOORS.from]);
});

it('gives each home a loopback address that nobody has by habit', () => {
  for (const scope of ['00000000', 'ffffffff', '0a1b2c3d']) {
    expect(doorHostOf(scope)).toMatch(/^127\.(?:6[4-9]|[7-9]\d|1\d\d)\.\d+\.[1-9]\d*$/);
  }
});

it('takes pasta for left behind when the process is gone whose network it connects', () => {
  const holder = { pid: 12, parent: 1, session: 12, start: '1', zombie: false, isStarting: false };
  const words = ['/usr/bin/pasta', '--userns', '/proc/12/ns/user', '--netns', '/proc/12/ns/net', ''];
  expect(isPastaOfNobody(words, [holder])).toBe(false);
  expect(isPastaOfNobody(words, [])).toBe(true);
  expect(isPastaOfNobody(words, [{ ...holder, zombie: true }])).toBe(true);
  expect(isPastaOfNobody(['/usr/bin/pasta', '--netns', '/run/user/1/netns', ''], [])).toBe(false);
  expect(isPastaOfNobody(['/usr/bin/cat', '--netns', '/proc/12/ns/net', ''], [])).toBe(false);
});
