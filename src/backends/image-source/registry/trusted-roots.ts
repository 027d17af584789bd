/** By whom registries are trusted, where an operator has an authority of their own. */
import { readFile } from 'node:fs/promises';
import { rootCertificates } from 'node:tls';
import { PlatformError } from '../../../domain/errors.ts';

/** PEM of those in the file and of those that everybody trusts. Throws PlatformError `unavailable`. */
export async function trustedRoots(file: string): Promise<string> {
  try {
    return [...rootCertificates, await readFile(file, 'utf8')].join('\n');
  } catch (error) {
    throw new PlatformError('unavailable', `The file of the setting images.roots, ${file}, cannot be read.`, {
      cause: error,
      hint: 'An operator can correct the setting or the file.',
    });
  }
}
