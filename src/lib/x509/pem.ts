/** Text that carries certificates and keys (RFC 7468). */

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[^-]*-----END \1-----/g;

interface PemBlock {
  /** `CERTIFICATE`, `PRIVATE KEY` ... */
  readonly label: string;
  /** With its first and last line, without anything around it. */
  readonly text: string;
}

/** In order; what stands between blocks is left out. */
export function pemBlocks(text: string): PemBlock[] {
  return [...text.matchAll(BLOCK)].map((match) => ({ label: match[1] ?? '', text: `${match[0]}\n` }));
}

export function certificatesIn(text: string): string[] {
  return pemBlocks(text)
    .filter(({ label }) => label === 'CERTIFICATE')
    .map((block) => block.text);
}

export function toPem(label: string, der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
