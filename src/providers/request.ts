/** Reading a request: who sends it, and its fields, bounded in size. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Fields } from './calls.ts';

const BODY_BYTES = 64 * 1024;
const MOST_FIELDS = 500;

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** The message is fit for the caller. */
export class BadRequest extends Error {
  override readonly name = 'BadRequest';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Takes as long for a wrong name or password as for the right ones. */
export function createGate({ username, password }: Credentials): (header: string | undefined) => boolean {
  const wanted = digest(`${username}:${password}`);
  return (header = '') => {
    const encoded = /^basic +([a-z0-9+/=_-]+) *$/i.exec(header)?.[1] ?? '';
    return timingSafeEqual(digest(Buffer.from(encoded, 'base64')), wanted);
  };
}

function digest(text: string | Buffer): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Fields of the query and of the form; what both have is taken from the form. */
export async function readFields(request: IncomingMessage, query: string): Promise<Fields> {
  const body = await readBody(request);
  const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  if (body !== '' && type !== '' && type !== 'application/x-www-form-urlencoded') {
    throw new BadRequest(415, 'Fields are sent as application/x-www-form-urlencoded.');
  }
  return new Map([...fieldsOf(query), ...fieldsOf(body)]);
}

function fieldsOf(text: string): Fields {
  const fields = new Map<string, string[]>();
  let count = 0;
  for (const [name, value] of new URLSearchParams(text)) {
    count += 1;
    if (count > MOST_FIELDS) throw new BadRequest(400, `A request has at most ${MOST_FIELDS} fields.`);
    const values = fields.get(name);
    if (values === undefined) fields.set(name, [value]);
    else values.push(value);
  }
  return fields;
}

/** What is too long is let pass by unread, so that the answer still reaches the caller. */
function readBody(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= BODY_BYTES) chunks.push(chunk);
      else reject(new BadRequest(413, `The body of a request has at most ${BODY_BYTES} bytes.`));
    });
    request.once('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    request.once('error', reject);
    request.once('close', () => reject(new BadRequest(400, 'The request ended early.')));
  });
}
