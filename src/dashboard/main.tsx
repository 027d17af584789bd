import { effect } from '@preact/signals';
import { render } from 'preact';
import { problemOf } from './api/problem.ts';
import { hasExpired, session } from './api/session.ts';
import { recognise } from './api/sign-in.ts';
import { comebacks } from './api/connection.ts';
import { ProblemNote } from './parts/content.tsx';
import { followLinks } from './routing/location.ts';
import { Shell } from './shell.tsx';
import { SignIn, SignInAgain } from './sign-in.tsx';
import { followSystemTheme } from './theme.ts';

const root = document.getElementById('app');

function Dashboard() {
  if (session.value === 'unknown') return null;
  if (session.value === 'none') return <SignIn />;
  return (
    <>
      <Shell />
      {hasExpired.value && <SignInAgain />}
    </>
  );
}

async function begin(): Promise<void> {
  if (root === null) return;
  followSystemTheme();
  followLinks();
  try {
    await recognise();
  } catch (thrown) {
    const again = (): void => location.reload();
    render(<ProblemNote problem={problemOf(thrown)} again={again} />, root);
    effect(() => void (comebacks.value > 0 && again()));
    return;
  }
  render(<Dashboard />, root);
}

void begin();
