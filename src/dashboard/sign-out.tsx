import { signOut } from './api/sign-in.ts';
import { confirm } from './parts/dialog.tsx';
import { attempt } from './parts/toasts.tsx';

export async function askSignOut(): Promise<void> {
  await attempt(() => signOut(false));
}

export async function askSignOutEverywhere(): Promise<void> {
  const isSure = await confirm({
    title: 'Sign out everywhere?',
    text: 'Every session of yours ends: this one, those of other browsers, and those of the command line. API keys and SSH keys stay.',
    action: 'Sign out everywhere',
    isDangerous: true,
  });
  if (isSure) await attempt(() => signOut(true));
}
