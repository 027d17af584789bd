/** Asks again and again until the right answer is there. */
import http from 'node:http';
import { deadline } from '../src/lib/deadline.ts';

const EVERY_MS = 4;
const PATIENCE_MS = 60_000;

export interface Asked {
  readonly port: number;
  readonly host: string;
  readonly path?: string;
}

export interface Answered {
  readonly at: number;
  readonly text: string;
}

/** Resolves with the time of the first answer with status 200 that `isRight`. `stop` gives up. */
export async function firstAnswer(
  asked: Asked,
  isRight: (text: string) => boolean,
  stop: AbortSignal,
): Promise<Answered> {
  const limited = deadline(PATIENCE_MS, stop);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  try {
    for (;;) {
      limited.signal.throwIfAborted();
      const text = await ask(asked, agent, limited.signal);
      if (text !== null && isRight(text)) return { at: performance.now(), text };
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  } finally {
    limited.clear();
    agent.destroy();
  }
}

function ask({ port, host, path = '/' }: Asked, agent: http.Agent, signal: AbortSignal): Promise<string | null> {
  return new Promise((resolve) => {
    const sent = http.get({ host: '127.0.0.1', port, path, agent, headers: { host }, signal }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', () => resolve(null));
      response.on('end', () => resolve(response.statusCode === 200 ? Buffer.concat(chunks).toString() : null));
    });
    sent.on('error', () => resolve(null));
  });
}
