/** Who uses this page. */
import { signal } from '@preact/signals';

interface Viewer {
  readonly email: string;
  readonly teams: readonly string[];
  readonly isAdmin: boolean;
}

/** `unknown` until the server has been asked. */
export const session = signal<'unknown' | 'none' | Viewer>('unknown');
/** The session has ended without a click on "Sign out": what was on the screen waits until the viewer has signed in again. */
export const hasExpired = signal(false);

export function sessionEnded(): void {
  if (typeof session.value === 'object') hasExpired.value = true;
  else session.value = 'none';
}

export function viewer(): Viewer {
  const { value } = session;
  return typeof value === 'object' ? value : { email: '', teams: [], isAdmin: false };
}
