/** What an ACME authority for tests reads: requests for certificates, and challenges as they are shown. */
import { createHash, createPublicKey, type KeyObject, verify, X509Certificate } from 'node:crypto';
import { request } from 'node:http';
import { connect } from 'node:tls';
import { childrenOf, oidText, readValues } from '../../src/lib/x509/der.ts';

export interface PresentedChallenge {
  readonly kind: string;
  readonly name: string;
  readonly token: string;
  readonly keyAuthorization: string;
}

export interface RequestFacts {
  readonly names: readonly string[];
  readonly publicKey: KeyObject;
  readonly isSigned: boolean;
}

/** Of a PKCS #10 request in DER. */
export function requestFacts(der: Buffer): RequestFacts {
  const [body, , signature] = childrenOf(readValues(der)[0]);
  if (body === undefined || signature === undefined) throw new Error('no request');
  const [, , key, attributes] = childrenOf(body);
  const publicKey = createPublicKey({ key: key?.whole ?? Buffer.of(), format: 'der', type: 'spki' });
  const [attribute] = readValues(attributes?.body ?? Buffer.of());
  const [extensions] = childrenOf(childrenOf(attribute)[1], 0x31);
  const names = childrenOf(extensions).flatMap((extension) => {
    const parts = childrenOf(extension);
    if (oidText(parts[0]) !== '2.5.29.17') return [];
    return childrenOf(readValues(parts.at(-1)?.body ?? Buffer.of())[0]).map(({ body: name }) =>
      name.toString('latin1'),
    );
  });
  const isSigned = verify('sha256', body.whole, publicKey, signature.body.subarray(1));
  return { names, publicKey, isSigned };
}

/** Asks for an http-01 answer at this port, whatever the name; '' when it is right. */
export function lookByHttp(port: number): (challenge: PresentedChallenge) => Promise<string> {
  return ({ name, token, keyAuthorization }) =>
    new Promise((resolve) => {
      const path = `/.well-known/acme-challenge/${token}`;
      const asked = request({ host: '127.0.0.1', port, path, headers: { host: name }, agent: false }, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (part: string) => (text += part));
        answer.on('end', () =>
          resolve(
            answer.statusCode === 200 && text === keyAuthorization
              ? ''
              : `Invalid response from http://${name}${path}: ${answer.statusCode}`,
          ),
        );
      });
      asked.on('error', (error) => resolve(`${name}: ${error.message}`)).end();
    });
}

/** Connects with the protocol acme-tls/1 and reads the certificate; '' when it is right (RFC 8737). */
export function lookByAlpn(port: number): (challenge: PresentedChallenge) => Promise<string> {
  return ({ name, keyAuthorization }) =>
    new Promise((resolve) => {
      const options = {
        host: '127.0.0.1',
        port,
        servername: name,
        ALPNProtocols: ['acme-tls/1'],
        rejectUnauthorized: false,
      };
      const socket = connect(options, () => {
        const raw = socket.getPeerCertificate().raw;
        const names = new X509Certificate(raw).subjectAltName;
        const digest = createHash('sha256').update(keyAuthorization).digest();
        const isRight = socket.alpnProtocol === 'acme-tls/1' && names === `DNS:${name}` && raw.includes(digest);
        socket.destroy();
        resolve(isRight ? '' : `${name} shows another certificate (${String(socket.alpnProtocol)}, ${String(names)})`);
      });
      socket.on('error', (error) => resolve(`${name}: ${error.message}`));
    });
}
