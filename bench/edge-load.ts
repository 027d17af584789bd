/**
 * Load from one process: `connections` kept connections, each with one request at a time, for `ms` milliseconds. Started
 * with these options as JSON; prints how many requests a second were answered.
 */
import { connect } from 'node:net';

interface Load {
  readonly port: number;
  readonly path: string;
  readonly connections: number;
  readonly ms: number;
}

const { port, path, connections, ms } = JSON.parse(process.argv[2] ?? '{}') as Load;
const request = `GET ${path} HTTP/1.1\r\nHost: bench.test\r\n\r\n`;
let answered = 0;
let failed = 0;
let running = true;

function open(): void {
  let left = 0;
  let head = '';
  const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => socket.write(request));
  socket.on('data', (chunk: Buffer) => {
    let body = chunk.length;
    if (left === 0) {
      head += chunk.toString('latin1', 0, Math.min(chunk.length, 4_096));
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      if (!head.startsWith('HTTP/1.1 200')) failed++;
      body = chunk.length - (end + 4);
      left = Number(/content-length: ([0-9]+)/i.exec(head.slice(0, end))?.[1] ?? 0);
      head = '';
    }
    left -= body;
    if (left > 0) return;
    answered++;
    if (running) socket.write(request);
    else socket.end();
  });
  socket.on('error', () => failed++);
}

for (let count = 0; count < connections; count++) open();
const begun = performance.now();
setTimeout(() => {
  running = false;
  const seconds = (performance.now() - begun) / 1_000;
  process.stdout.write(`${JSON.stringify({ perSecond: answered / seconds, failed })}\n`, () => process.exit(0));
}, ms);
