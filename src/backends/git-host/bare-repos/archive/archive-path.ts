/** Pure: which names an archive may have. What is refused here would leave the tree, or be a repository inside the app. */
import type { PlatformError } from '../../../../domain/errors.ts';
import { invalidSource } from '../invalid-source.ts';

const MAX_PATH = 4_000;
const MAX_PART = 255;
const MAX_DEPTH = 200;

/** The path as git writes it; '' for the root itself. Throws PlatformError `deploy.invalid_source`. */
export function archivePath(path: string): string {
  if (path.startsWith('/') || /^[A-Za-z]:[\\/]/.test(path)) throw refused(path, 'is an absolute path');
  if (path.includes('\0')) throw refused(path, 'has a NUL character');
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) throw refused(path, 'leaves the archive');
  const isLong = parts.some((part) => Buffer.byteLength(part) > MAX_PART);
  if (isLong || path.length > MAX_PATH || parts.length > MAX_DEPTH) throw refused(path, 'lies too deep or is too long');
  return parts.join('/');
}

/** Git's own directories are no part of the source. */
export function isGitDirectory(path: string): boolean {
  return path.split('/').some((part) => part.toLowerCase() === '.git');
}

export function refused(path: string, what: string): PlatformError {
  return invalidSource(
    `${JSON.stringify(path.slice(0, 200))} in the archive ${what}.`,
    'Make the archive again, with "tar -czf app.tar.gz ." in the directory of the app.',
  );
}
