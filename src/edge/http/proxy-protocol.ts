import { HEAD_BAD, HEAD_MORE } from './head-reader.ts';

/** Whom a balancer speaks for, by the header of the PROXY protocol that its connection begins with. */
interface ProxySource {
  /** Null when the balancer speaks for itself (a health check), or does not know. */
  readonly address: string | null;
  /** The port that the client connected to; null like the address. */
  readonly port: number | null;
  /** The client spoke TLS with the balancer. */
  readonly tls: boolean;
}

const ITSELF: ProxySource = { address: null, port: null, tls: false };
const V2_SIGNATURE = Buffer.from([0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a]);
const V2_FIXED = 16;
/** Addresses and everything a balancer may want to add. */
const V2_MOST = 4_096;
const V1_MOST = 107;
const V1 =
  /^PROXY (?:TCP4 ([0-9.]{7,15}) [0-9.]{7,15}|TCP6 ([0-9a-fA-F:.]{2,39}) [0-9a-fA-F:.]{2,39}) ([0-9]{1,5}) ([0-9]{1,5})$/;
const TLV_SSL = 0x20;
const SSL_CLIENT = 0x01;

/** Reads the header of version 1 or 2 at the beginning of a connection. */
export class ProxyHeaderReader {
  source: ProxySource = ITSELF;
  #kept = Buffer.alloc(0);

  /** Takes bytes[from, end). Returns the index just past the header, HEAD_MORE or HEAD_BAD. */
  read(bytes: Buffer, from: number, end: number): number {
    const known = this.#kept.length;
    const all = Buffer.concat([this.#kept, bytes.subarray(from, end)]);
    const common = Math.min(all.length, V2_SIGNATURE.length);
    const size = all.compare(V2_SIGNATURE, 0, common, 0, common) === 0 ? this.#version2(all) : this.#version1(all);
    if (size === HEAD_MORE) this.#kept = all;
    return size < 0 ? size : from + size - known;
  }

  #version1(all: Buffer): number {
    const begin = all.toString('latin1', 0, V1_MOST);
    const lineEnd = begin.indexOf('\r\n');
    if (lineEnd < 0) return all.length < V1_MOST && 'PROXY '.startsWith(begin.slice(0, 6)) ? HEAD_MORE : HEAD_BAD;
    const line = begin.slice(0, lineEnd);
    if (line === 'PROXY UNKNOWN' || line.startsWith('PROXY UNKNOWN ')) return lineEnd + 2;
    const [, ipv4, ipv6, , port] = V1.exec(line) ?? [];
    const address = ipv4 ?? ipv6;
    if (address === undefined || Number(port) > 65_535) return HEAD_BAD;
    this.source = { address, port: Number(port), tls: false };
    return lineEnd + 2;
  }

  #version2(all: Buffer): number {
    if (all.length < V2_FIXED) return HEAD_MORE;
    const [version, command] = [all.readUInt8(12) >> 4, all.readUInt8(12) & 0x0f];
    const length = all.readUInt16BE(14);
    if (version !== 2 || command > 1 || length > V2_MOST) return HEAD_BAD;
    const size = V2_FIXED + length;
    if (all.length < size) return HEAD_MORE;
    const family = all.readUInt8(13);
    const ipLength = family === 0x11 ? 4 : family === 0x21 ? 16 : 0;
    if (command === 0 || ipLength === 0) return size;
    const addresses = ipLength * 2 + 4;
    if (length < addresses) return HEAD_BAD;
    this.source = {
      address: addressText(all.subarray(V2_FIXED, V2_FIXED + ipLength)),
      port: all.readUInt16BE(V2_FIXED + addresses - 2),
      tls: saysTls(all.subarray(V2_FIXED + addresses, size)),
    };
    return size;
  }
}

function addressText(bytes: Buffer): string {
  if (bytes.length === 4) return [...bytes].join('.');
  const groups = Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(at * 2).toString(16));
  return groups.join(':');
}

/** Whether the records behind the addresses say that the client spoke TLS. */
function saysTls(records: Buffer): boolean {
  let at = 0;
  while (at + 3 <= records.length) {
    const length = records.readUInt16BE(at + 1);
    const isSsl = records.readUInt8(at) === TLV_SSL && length >= 5 && at + 4 <= records.length;
    if (isSsl) return (records.readUInt8(at + 3) & SSL_CLIENT) !== 0;
    at += 3 + length;
  }
  return false;
}
