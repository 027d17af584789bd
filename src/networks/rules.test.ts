import { expect, it } from 'vitest';
import { addressPlan, UNIT_INDEXES, unitPlace } from './address-plan.ts';
import { gatewayRules, type HomeRules, machineRules } from './rules.ts';
import { FILTER_FEATURES, type Forward, unitRules } from './unit-rules.ts';

const PLAN = addressPlan('0a1b2c3d', '100.64.16.0');
const NONE: HomeRules = {
  units: [],
  links: [],
  allowed: [],
  unreached: [],
  resolvers: [],
  standIns: new Map(),
  uids: [0],
};

function unit(index: number, tenant: string) {
  const { address, link } = unitPlace(PLAN, index);
  return { address, link, since: index, tenant, endpoints: [], local: [] };
}

/** Of the unit at 100.64.16.64. */
function rulesOf(forwards: readonly Forward[], features = FILTER_FEATURES[0]): string {
  if (features === undefined) throw new Error('no features');
  return unitRules(PLAN, '100.64.16.64', forwards, features);
}

/** The lines of one chain, set or map, as it is to be in the end. */
function part(rules: string, header: string): string[] {
  const table = rules.slice(rules.lastIndexOf('table ip '));
  const [, body = ''] = new RegExp(`  ${header} \\{\n([^]*?)\n  \\}`).exec(table) ?? [];
  return body.split('\n').map((line) => line.trim());
}

it('replaces the tables of the machine and of units whole, in one transaction', () => {
  for (const rules of [machineRules(PLAN, NONE), rulesOf([])]) {
    const [first = '', second, third] = rules.split('\n');
    expect([second, third]).toEqual([`delete ${first}`, `${first} {`]);
  }
  expect(machineRules(PLAN, NONE)).toContain('table ip tancho_0a1b2c3d {');
});

it('keeps the table of the gateway, for whoever is being judged by it, and all that is in it is new', () => {
  const rules = gatewayRules(PLAN, { ...NONE, units: [unit(64, 'shop')] });
  expect(rules).not.toContain('delete');
  const [declared = '', changes = ''] = rules.split(/^\}$/m);
  expect(declared).not.toContain('100.64.16.64');
  expect(declared).toContain('  map tenants {\n    type ipv4_addr : verdict\n  }');
  expect(declared).toContain('  chain forward {\n    type filter hook forward priority filter; policy drop\n  }');
  const sets = [...declared.matchAll(/^  ((?:set|map) )(\w+)/gm)].map(
    ([, kind = '', name = '']) => `${kind}ip tancho ${name}`,
  );
  expect(changes.match(/^flush .*$/gm)).toEqual(['table ip tancho', ...sets].map((what) => `flush ${what}`));
});

it('lets the units of a tenant reach each other', () => {
  const units = [unit(64, 'shop'), unit(65, 'shop'), unit(66, 'blog')];
  const rules = gatewayRules(PLAN, { ...NONE, units });
  expect(part(rules, 'chain tenant_0')).toEqual(['ip daddr { 100.64.16.64, 100.64.16.65 } accept']);
  expect(part(rules, 'chain tenant_1')).toEqual(['ip daddr { 100.64.16.66 } accept']);
  expect(part(rules, 'map tenants').join()).toContain('100.64.16.66 : jump tenant_1');
});

it('lets a tenant reach the targets of another that it is linked to by their common address only, in turn, and nobody back', () => {
  const units = [unit(64, 'shop'), unit(65, 'shop'), unit(66, 'blog')];
  const targets = [
    { address: '100.64.16.64', port: 8080 },
    { address: '100.64.16.65', port: 3000 },
  ];
  const links = [{ tenant: 'shop', from: ['blog'], address: '100.64.31.0', targets }];
  const rules = gatewayRules(PLAN, { ...NONE, units, links });
  expect(part(rules, 'chain tenant_0')).toEqual(['ip daddr { 100.64.16.64, 100.64.16.65 } accept']);
  expect(part(rules, 'chain tenant_1')).toContain('ct status dnat ip daddr { 100.64.16.64, 100.64.16.65 } accept');
  expect(part(rules, 'chain linked')).toContain('ip daddr vmap { 100.64.31.0 : goto link_0 }');
  expect(part(rules, 'chain link_0').join()).toContain('0 : goto link_0_0, 1 : goto link_0_1');
  expect(part(rules, 'chain link_0_1')).toEqual([
    'tcp dport 80 meta mark set 1 dnat to 100.64.16.65:3000',
    'dnat to 100.64.16.65',
  ]);
  const idle = gatewayRules(PLAN, {
    ...NONE,
    units,
    links: [{ tenant: 'shop', from: ['blog'], address: '100.64.31.0', targets: [] }],
  });
  expect(idle).not.toContain('dnat to');
  expect(part(idle, 'chain tenant_1')).toContain('ct status dnat ip daddr { 100.64.16.64, 100.64.16.65 } accept');
});

it('takes nothing from a link but what its unit sends by its own address', () => {
  const rules = gatewayRules(PLAN, { ...NONE, units: [unit(64, 'shop')] });
  expect(part(rules, 'set links').join()).toContain('"u64" . 100.64.16.64');
  const forward = part(rules, 'chain forward');
  const spoofed = forward.indexOf('iifname . ip saddr != @links drop');
  expect(spoofed).toBeGreaterThan(0);
  expect(forward.slice(0, spoofed).filter((rule) => rule.includes('accept') && !rule.includes('reply'))).toEqual([
    'iifname "host0" ip saddr { 100.64.16.1, 100.64.16.63 } accept',
  ]);
});

it('takes what answers for an answer to who has asked only, and judges what asks each time', () => {
  const rules = gatewayRules(PLAN, { ...NONE, units: [{ ...unit(64, 'shop'), since: 9_000 }, unit(65, 'blog')] });
  expect(part(rules, 'set owners').at(-1)).toBe('elements = { 100.64.16.64 . 9000, 100.64.16.65 . 65 }');
  expect(part(rules, 'map marks').at(-1)).toBe('elements = { 100.64.16.64 : 9000, 100.64.16.65 : 65 }');
  expect(part(rules, 'chain begun').at(-1)).toBe('ct direction original ct mark set ip saddr map @marks');
  const standing = part(rules, 'chain forward').filter((rule) => rule.includes('established'));
  expect(standing).toEqual([
    'oifname "host0" ip daddr { 100.64.16.1, 100.64.16.63 } ct direction reply ct state established,related accept',
    'ct direction reply ct state established,related ip daddr . ct mark @owners accept',
  ]);
});

it('closes private networks after what is allowed, and others before it', () => {
  const rules = gatewayRules(PLAN, { ...NONE, allowed: ['10.1.0.0/16'] });
  const forward = part(rules, 'chain forward');
  const at = (text: string): number => forward.findIndex((rule) => rule.includes(text));
  expect(at('@services')).toBeLessThan(at('@never'));
  expect(at('@never')).toBeLessThan(at('@allowed'));
  expect(at('@allowed')).toBeLessThan(at('@private'));
  expect(part(rules, 'set never').join()).toContain('169.254.0.0/16');
  expect(part(rules, 'set allowed').join()).toContain('10.1.0.0/16');
});

it('opens to a unit what it alone is bound to, and name servers to all', () => {
  const bound = { ...unit(64, 'shop'), endpoints: [{ address: '10.0.0.5', protocol: 'tcp', port: 5432 } as const] };
  const rules = gatewayRules(PLAN, { ...NONE, units: [bound, unit(65, 'blog')], resolvers: ['10.9.9.9'] });
  expect(part(rules, 'set services').at(-1)).toBe('elements = { 100.64.16.64 . 10.0.0.5 . tcp . 5432 }');
  expect(part(rules, 'set resolvers').at(-1)).toBe('elements = { 10.9.9.9 . tcp . 53, 10.9.9.9 . udp . 53 }');
});

it('translates on the machine what stands for its loopback, and takes nothing else from units', () => {
  const local = [{ address: '127.0.0.53', protocol: 'udp', port: 53 } as const];
  const rules = machineRules(PLAN, {
    ...NONE,
    standIns: new Map([['100.64.16.3', '127.0.0.53']]),
    units: [{ ...unit(64, 'shop'), local }, unit(65, 'blog')],
    uids: [7, 91_234],
  });
  expect(part(rules, 'chain prerouting')).toContain('iifname "tnc-0a1b2c3d" ip daddr 100.64.16.3 dnat to 127.0.0.53');
  expect(part(rules, 'chain input').slice(-2)).toEqual([
    'iifname "tnc-0a1b2c3d" ip saddr . ip daddr . meta l4proto . th dport @local accept',
    'reject with icmp type admin-prohibited',
  ]);
  expect(part(rules, 'set local').at(-1)).toBe('elements = { 100.64.16.64 . 127.0.0.53 . udp . 53 }');
  expect(part(rules, 'chain prerouting').at(-1)).toContain('th dport != @local redirect');
  expect(part(rules, 'chain output').at(-1)).toContain('meta skuid != { 7, 91234 } reject');
});

it('takes answers only from the direct links of units, and forwards nothing by them', () => {
  const rules = machineRules(PLAN, { ...NONE, uids: [7] });
  const input = part(rules, 'chain input');
  expect(input.filter((rule) => rule.endsWith(' accept') && !rule.startsWith('iifname "tnc-0a1b2c3d" '))).toEqual([
    'iif "lo" accept',
    'iifname != "tnc-0a1b2c3d*" accept',
    'ct state established,related accept',
  ]);
  expect(part(rules, 'chain forward').slice(-2)).toEqual([
    'oifname "tnc-0a1b2c3d*" drop',
    'iifname "tnc-0a1b2c3d*" iifname != "tnc-0a1b2c3d" drop',
  ]);
  expect(unitPlace(PLAN, UNIT_INDEXES.to).direct).toBe('tnc-0a1b2c3deff');
  const leaving = part(rulesOf([]), 'chain leaving');
  expect(leaving.slice(1, -1).filter((rule) => !rule.includes('tcp flags & (syn | ack) != syn'))).toEqual([
    'oifname != "edge0" accept',
  ]);
  expect(leaving.at(-1)).toBe('reject with icmp type admin-prohibited');
});

it('leads a unit to the loopback of the machine for what is forwarded only', () => {
  const forwards = [{ from: '127.0.0.1', standIn: '100.64.16.3', protocol: 'tcp', port: 5432 } as const];
  const rules = rulesOf(forwards);
  expect(part(rules, 'chain output').at(-1)).toBe('ip daddr 127.0.0.1 tcp dport 5432 dnat to 100.64.16.3');
  expect(part(rules, 'chain leaving').slice(1, 3)).toEqual([
    'oifname != "edge0" ip daddr 127.0.0.1 tcp dport 5432 accept',
    'notrack',
  ]);
});

it('has the kernel keep a table of connections in those units only that reach the loopback of the machine', () => {
  const forwards = [{ from: '127.0.0.53', standIn: '100.64.16.3', protocol: 'udp', port: 53 } as const];
  const needsTable = /\b(?:ct|nat|notrack|masquerade)\b/;
  for (const features of FILTER_FEATURES) {
    expect(rulesOf([], features)).not.toMatch(needsTable);
    expect(rulesOf(forwards, features)).toMatch(needsTable);
    expect(rulesOf(forwards, features).includes('ct count over')).toBe(features.counts);
    expect(rulesOf([], features).includes('socket')).toBe(features.sockets);
  }
});
