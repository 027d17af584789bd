import { signOut } from './api/sign-in.ts';
import type { Question } from './parts/dialog.tsx';
import { attempt } from './parts/toasts.tsx';

export async function askSignOut(): Promise<void> {
  await attempt(() => signOut(false));
}

export const SIGN_OUT_EVERYWHERE: Question = {
  title: 'Sign out everywhere?',
  text: 'Every session of yours ends: this one, those of other browsers, and those of the command line. API keys and SSH keys stay.',
  action: 'Sign out everywhere',
  isDangerous: true,
};
