/** What the server and the process that writes a backup say to each other: a line of JSON each, of which the job is the first. */
import type { BackupManifest } from '../../../lib/backups/manifest.ts';
import type { StateReader } from '../../../lib/backups/write-backup.ts';

/** A question about the state, which is answered by what the reader of it answers; at last what was made. */
export type Said =
  { readonly asks: keyof StateReader; readonly copy: string | null } | { readonly manifest: BackupManifest };
