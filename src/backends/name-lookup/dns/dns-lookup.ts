/** Asks name servers, and addresses on the ports that authorities use, each within a few seconds. */
import { Resolver } from 'node:dns/promises';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { LookupResult, HttpLook, NameLookup } from '../../../domain/certificates/name-lookup.ts';
import { withDeadline } from '../../../lib/deadline.ts';
import { type AddressGuard, ForbiddenAddress } from '../../../lib/guarded/address-guard.ts';
import { hostPort } from '../../../lib/host-port.ts';
import { request as httpRequest } from '../../../lib/node-http.ts';

interface DnsLookupOptions {
  /** `address` or `address:port`; empty: those that the machine asks. */
  readonly servers: readonly string[];
  /** Decides which addresses besides those of this machine are called: users choose the names. */
  readonly guard: AddressGuard;
  readonly timeoutMs?: number;
  /** Other than 80 and 443 in tests only. */
  readonly ports?: { readonly http: number; readonly tls: number };
  readonly ownAddresses?: () => readonly string[];
}

const TIMEOUT_MS = 5_000;
const MAX_BODY_BYTES = 1_024;
const NOTHING = new Set(['ENOTFOUND', 'ENODATA']);
const WORDS: Readonly<Record<string, string>> = {
  ETIMEOUT: 'they do not answer',
  ECONNREFUSED: 'they take no questions',
  ESERVFAIL: 'they answer with an error (SERVFAIL)',
  EREFUSED: 'they refuse to answer',
};

export function createDnsLookup(options: DnsLookupOptions): NameLookup {
  const { guard, servers, timeoutMs = TIMEOUT_MS, ports = { http: 80, tls: 443 } } = options;
  const ownAddresses = options.ownAddresses ?? machineAddresses;
  const resolver = new Resolver({ timeout: timeoutMs, tries: 2 });
  if (servers.length > 0) resolver.setServers(servers);

  const isAllowed = async (address: string, port: number): Promise<string> => {
    if (ownAddresses().includes(address)) return '';
    try {
      await guard.check(new URL(`http://${hostPort({ host: address, port })}`));
      return '';
    } catch (error) {
      return error instanceof ForbiddenAddress ? 'is an address that is not called' : 'cannot be called';
    }
  };

  return {
    async addresses(name) {
      const [ipv4, ipv6] = await Promise.all([found(resolver.resolve4(name)), found(resolver.resolve6(name))]);
      const values = { ipv4: valueOf(ipv4), ipv6: valueOf(ipv6) };
      if (values.ipv4.length + values.ipv6.length > 0) return { kind: 'found', value: values };
      if (ipv4.kind === 'failed') return ipv4;
      return ipv6.kind === 'failed' ? ipv6 : { kind: 'none' };
    },
    async caa(name) {
      const records = await found(resolver.resolveCaa(name));
      if (records.kind !== 'found') return records;
      const value = records.value.flatMap((record) => {
        const { critical: _critical, type: _type, ...rest } = record as typeof record & { readonly type?: string };
        return Object.entries(rest).map(([tag, text]) => ({ tag, issuer: (String(text).split(';')[0] ?? '').trim() }));
      });
      return { kind: 'found', value };
    },
    async txt(name) {
      const records = await found(resolver.resolveTxt(name));
      return records.kind === 'found'
        ? { kind: 'found', value: records.value.map((parts) => parts.join('')) }
        : records;
    },
    async ask(address, host, path) {
      const why = await isAllowed(address, ports.http);
      if (why !== '') return { kind: 'unreachable', why };
      try {
        return await withDeadline(timeoutMs, null, (signal) => get(address, ports.http, host, path, signal));
      } catch (error) {
        return { kind: 'unreachable', why: inWords(error) };
      }
    },
    async takesTls(address) {
      if ((await isAllowed(address, ports.tls)) !== '') return false;
      return withDeadline(timeoutMs, null, (signal) => accepts(address, ports.tls, signal));
    },
    ownAddresses,
  };
}

async function found<T>(asking: Promise<readonly T[]>): Promise<LookupResult<readonly T[]>> {
  try {
    const value = await asking;
    return value.length === 0 ? { kind: 'none' } : { kind: 'found', value };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    return NOTHING.has(code) ? { kind: 'none' } : { kind: 'failed', why: WORDS[code] ?? `they answer ${code}` };
  }
}

function valueOf<T>(result: LookupResult<readonly T[]>): readonly T[] {
  return result.kind === 'found' ? result.value : [];
}

function get(address: string, port: number, host: string, path: string, signal: AbortSignal): Promise<HttpLook> {
  return new Promise((resolve, reject) => {
    const asked = httpRequest({ host: address, port, path, headers: { host }, agent: false, signal }, (answer) => {
      void read(answer).then((body) => {
        const server = String(answer.headers.server ?? '');
        resolve({ kind: 'answered', status: answer.statusCode ?? 0, body, server: server.slice(0, 100) });
      }, reject);
    });
    asked.on('error', reject).end();
  });
}

async function read(answer: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of answer as AsyncIterable<Buffer>) {
    text += part.toString('latin1');
    if (text.length > MAX_BODY_BYTES) break;
  }
  answer.destroy();
  return text.slice(0, MAX_BODY_BYTES);
}

function accepts(host: string, port: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, signal });
    socket.once('connect', () => {
      resolve(true);
      socket.destroy();
    });
    socket.on('error', () => resolve(false));
  });
}

function inWords(error: unknown): string {
  const { code, name } = error as NodeJS.ErrnoException;
  if (name === 'AbortError' || name === 'DeadlineExceeded') return 'does not answer in time';
  if (code === 'ECONNREFUSED') return 'takes no connection';
  if (code === 'EHOSTUNREACH' || code === 'ENETUNREACH') return 'cannot be reached from here';
  return `ends the connection (${code ?? 'unknown'})`;
}

function machineAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return all.filter(({ internal }) => !internal).map(({ address }) => address);
}
