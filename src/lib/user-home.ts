/** The home directory of whoever runs this process, which not everybody has. */
import { homedir } from 'node:os';

/** Null for a user that the system does not know (a bare number, as in a container), where HOME is not set either. */
export function userHome(): string | null {
  try {
    return homedir();
  } catch (error) {
    if ((error as { info?: { code?: string } }).info?.code === 'ENOENT') return null;
    throw error;
  }
}
