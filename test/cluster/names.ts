/** The name server of a cluster: the names of Services, and by the name server of this machine all others. */
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

export const CLUSTER_DOMAIN = 'cluster.local';
const PORT = 53;
const HEADER_BYTES = 12;
const A = 1;
const NO_SUCH_NAME = 3;
const TTL_SECONDS = 5;

/** `find`: the address of `<service>.<namespace>`. */
export async function startNames(address: string, find: (name: string) => string | null): Promise<() => Promise<void>> {
  const server = createSocket('udp4');
  const relay = new Relay(server);
  server.on('message', (query, from) => {
    const name = nameIn(query);
    if (!name.endsWith(`.${CLUSTER_DOMAIN}`)) return relay.ask(query, from);
    const [, service] = /^([^.]+\.[^.]+)\.svc\.cluster\.local$/.exec(name) ?? [];
    server.send(answerTo(query, service === undefined ? null : find(service)), from.port, from.address);
  });
  server.bind(PORT, address);
  await once(server, 'listening');
  return async () => {
    relay.close();
    await new Promise<void>((resolve) => server.close(resolve));
  };
}

/** Labels follow each other, each after its length. */
function nameIn(query: Buffer): string {
  const labels: string[] = [];
  for (let at = HEADER_BYTES; at < query.length;) {
    const length = query.readUInt8(at);
    if (length === 0) break;
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return labels.join('.').toLowerCase();
}

function answerTo(query: Buffer, address: string | null): Buffer {
  const endOfName = query.indexOf(0, HEADER_BYTES) + 1;
  const question = query.subarray(HEADER_BYTES, endOfName + 4);
  const hasAnswer = address !== null && query.readUInt16BE(endOfName) === A;
  const header = Buffer.alloc(HEADER_BYTES);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8580 | (address === null ? NO_SUCH_NAME : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(hasAnswer ? 1 : 0, 6);
  if (!hasAnswer) return Buffer.concat([header, question]);
  const record = Buffer.from([0xc0, HEADER_BYTES, 0, A, 0, 1, 0, 0, 0, TTL_SECONDS, 0, 4, ...bytesOf(address)]);
  return Buffer.concat([header, question, record]);
}

const bytesOf = (address: string): number[] => address.split('.').map(Number);

/** One socket for all who ask; answers are distinguished by numbers of its own. */
class Relay {
  readonly #waiting = new Map<number, { readonly from: RemoteInfo; readonly id: number }>();
  readonly #socket = createSocket('udp4');
  readonly #server = /^nameserver\s+(\d+\.\d+\.\d+\.\d+)$/m.exec(readFileSync('/etc/resolv.conf', 'utf8'))?.[1];
  #last = 0;

  constructor(own: Socket) {
    this.#socket.on('message', (answer) => {
      const asked = this.#waiting.get(answer.readUInt16BE(0));
      if (asked === undefined) return;
      this.#waiting.delete(answer.readUInt16BE(0));
      answer.writeUInt16BE(asked.id, 0);
      own.send(answer, asked.from.port, asked.from.address);
    });
  }

  ask(query: Buffer, from: RemoteInfo): void {
    if (this.#server === undefined) return;
    this.#last = (this.#last + 1) % 0x10000;
    this.#waiting.set(this.#last, { from, id: query.readUInt16BE(0) });
    query.writeUInt16BE(this.#last, 0);
    this.#socket.send(query, PORT, this.#server);
  }

  close(): void {
    this.#socket.close();
  }
}
