/** Clients of one host that ask for `/` as browsers do. */
import { Agent as HttpAgent, get as httpGet } from 'node:http';
import { type ClientHttp2Session, type ClientHttp2Stream, connect as http2Connect, constants } from 'node:http2';
import { Agent as HttpsAgent, get as httpsGet } from 'node:https';

/** For one answer: some clients notice late that theirs will not come. */
const PATIENCE_MS = 30_000;

/** Resolves with the text of an answer with status 200, else with the status and the text; rejects where there is none. */
export type Ask = () => Promise<string>;

export interface Asking {
  readonly ask: Ask;
  close(): void;
}

export interface HttpClient {
  /** On loopback. */
  readonly port: number;
  readonly host: string;
}

interface Http1Client extends HttpClient {
  /** In place of the loopback. */
  readonly address?: string;
  readonly isSecure: boolean;
  /** At most. */
  readonly connections: number;
  /** False: each request has a connection of its own. */
  readonly isKept?: boolean;
}

export function overHttp1(client: Http1Client): Asking {
  const { address = '127.0.0.1', port, host, isSecure, connections, isKept = true } = client;
  const how = { keepAlive: isKept, maxSockets: connections };
  const agent = isSecure ? new HttpsAgent({ ...how, servername: host, rejectUnauthorized: false }) : new HttpAgent(how);
  const get = isSecure ? httpsGet : httpGet;
  const ask: Ask = () =>
    new Promise((resolve, reject) => {
      const options = { host: address, port, agent, headers: { host }, timeout: PATIENCE_MS };
      const sent = get(options, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => (text += part));
        response.on('error', reject);
        response.on('end', () => resolve(response.statusCode === 200 ? text : `${response.statusCode} ${text}`));
      });
      sent.on('timeout', () => sent.destroy(new Error('timed out')));
      sent.on('error', reject);
    });
  return { ask, close: () => agent.destroy() };
}

/** A session that the edge asks to leave is left for a new one. */
export function overHttp2({ port, host, connections }: HttpClient & { readonly connections: number }): Asking {
  const sessions: (ClientHttp2Session | null)[] = new Array<null>(connections).fill(null);
  let turn = 0;
  const sessionAt = (at: number): ClientHttp2Session => {
    const known = sessions[at];
    if (known != null && !known.closed && !known.destroyed) return known;
    const session = http2Connect(`https://127.0.0.1:${port}`, { servername: host, rejectUnauthorized: false });
    // The edge ends it when all is answered; a client that ends it, too, may forget what it was about to send.
    session.on('goaway', () => {
      if (sessions[at] === session) sessions[at] = null;
    });
    session.on('error', () => {});
    sessions[at] = session;
    return session;
  };
  const once: Ask = () =>
    new Promise((resolve, reject) => {
      const stream = sessionAt(turn++ % connections).request({ ':authority': host, ':path': '/' });
      let [status, text] = [0, ''];
      stream.setTimeout(PATIENCE_MS, () => stream.destroy(new Error('timed out')));
      stream.on('response', (headers) => (status = headers[':status'] ?? 0));
      stream.setEncoding('utf8').on('data', (part: string) => (text += part));
      stream.on('error', (error) => reject(isUnsent(stream) ? UNSENT : error));
      stream.on('close', () => (status === 200 ? resolve(text) : reject(new Error(`HTTP/2: ${status} ${text}`))));
    });
  const ask: Ask = async () => {
    // Each session hears of it by itself.
    for (let left = connections; ; left--) {
      try {
        return await once();
      } catch (error) {
        if (error !== UNSENT || left === 0) throw error;
      }
    }
  };
  return {
    ask,
    close: () => {
      for (const session of sessions) session?.destroy();
    },
  };
}

const UNSENT = new Error('The session was asked to end before the request was sent.');

/** As clients do: what was refused unprocessed is asked again over another connection (RFC 9113 section 8.7). */
function isUnsent({ rstCode }: ClientHttp2Stream): boolean {
  return rstCode === constants.NGHTTP2_REFUSED_STREAM;
}
