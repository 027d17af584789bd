/** What PostgreSQL keeps of a password (RFC 5802): sent instead of the password, so that none is ever in a statement or its log. */
import { createHash, createHmac, pbkdf2, randomBytes } from 'node:crypto';

const ITERATIONS = 4096;
const KEY_BYTES = 32;

/** Only for passwords of ASCII letters, digits, `-` and `_`: others would have to be prepared first. */
export async function scramVerifier(password: string): Promise<string> {
  const salt = randomBytes(16);
  const salted = await new Promise<Buffer>((resolve, reject) => {
    pbkdf2(password, salt, ITERATIONS, KEY_BYTES, 'sha256', (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
  const hmac = (text: string): Buffer => createHmac('sha256', salted).update(text).digest();
  const storedKey = createHash('sha256').update(hmac('Client Key')).digest('base64');
  const serverKey = hmac('Server Key').toString('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}
