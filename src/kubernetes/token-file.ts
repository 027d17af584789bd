/** A token that somebody else renews in its file, as the kubelet does with those of pods. */
import { readFile } from 'node:fs/promises';
import { AccessProblem } from './access.ts';

const FRESH_MS = 60_000;
const MAX_BYTES = 256 * 1024;

interface TokenFile {
  read(): Promise<string>;
  forget(): void;
}

export function openTokenFile(file: string): TokenFile {
  let known: { readonly token: string; readonly at: number } | null = null;
  return {
    async read() {
      if (known !== null && Date.now() - known.at < FRESH_MS) return known.token;
      try {
        const token = (await readFile(file, 'utf8')).trim();
        if (token === '' || token.length > MAX_BYTES || /\s/.test(token)) throw new Error('it holds no token');
        known = { token, at: Date.now() };
        return token;
      } catch (error) {
        // While it is being replaced the old one is good for a while.
        if (known !== null) return known.token;
        throw new AccessProblem(
          `The token for Kubernetes cannot be read from ${file}.`,
          `See that the file is there and that this server may read it.`,
          error,
        );
      }
    },
    forget() {
      if (known !== null) known = { ...known, at: -FRESH_MS };
    },
  };
}
