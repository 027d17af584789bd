/** What Node's own HTTP parser makes of bytes, without a socket: the judge of the edge's parser. */
import { Agent, createServer, request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { Duplex } from 'node:stream';

export interface Understood {
  readonly method: string;
  readonly target: string;
  readonly host: string;
  readonly body: string;
}

export interface UnderstoodAnswer {
  readonly status: number;
  readonly body: string;
  readonly complete: boolean;
}

/** A connection whose other end says these bytes and then closes its side. */
function talking(bytes: Buffer, onWrite: () => void = () => {}): Duplex {
  return new Duplex({
    read() {},
    write(_chunk, _encoding, done) {
      onWrite();
      done();
    },
    construct(done) {
      this.push(bytes);
      done();
    },
  });
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The requests whose heads and bodies Node takes as whole, in order, up to the first thing it refuses. */
export async function requestsByNode(bytes: Buffer): Promise<Understood[]> {
  const understood: (Understood | null)[] = [];
  const server = createServer({ requireHostHeader: false, keepAlive: true }, (request, response) => {
    const index = understood.push(null) - 1;
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString('latin1')));
    request.on('end', () => {
      const { method = '', url: target = '', headers } = request;
      understood[index] = { method, target, host: headers.host ?? '', body };
    });
    response.end();
  });
  server.on('checkContinue', (request, response) => server.emit('request', request, response));
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('clientError', (_error, socket) => socket.destroy());
  const socket = talking(bytes);
  server.emit('connection', socket);
  for (let count = 0; count < 6; count++) await turn();
  socket.destroy();
  const whole = understood.indexOf(null);
  return understood.slice(0, whole < 0 ? undefined : whole).filter((request) => request !== null);
}

/** The final answer Node reads from these bytes, which then end; null when it refuses them. */
export function answerByNode(bytes: Buffer, method: string): Promise<UnderstoodAnswer | null> {
  return new Promise((resolve) => {
    const socket: Duplex = talking(bytes, () => setImmediate(() => socket.push(null)));
    const agent = Object.assign(new Agent(), { createConnection: () => socket });
    const request = httpRequest({ method, agent, host: 'x' }, (response: IncomingMessage) => {
      let body = '';
      const done = (): void =>
        resolve({ status: response.statusCode ?? 0, body, complete: response.complete && !response.errored });
      response.on('data', (part: Buffer) => (body += part.toString('latin1')));
      response.on('error', done);
      response.on('close', done);
    });
    request.on('upgrade', () => resolve(null));
    request.on('error', () => resolve(null));
    request.end();
  });
}
