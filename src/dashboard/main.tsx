import { render } from 'preact';
import { hasExpired, session } from './api/session.ts';
import { recognise } from './api/sign-in.ts';
import { useResource } from './data/resource.ts';
import { ProblemNote, Waiting } from './parts/content.tsx';
import { followLinks, keepPage } from './routing/location.ts';
import { Shell } from './shell.tsx';
import { SignIn, SignInAgain } from './sign-in.tsx';
import { followSystemTheme } from './theme.ts';

const RECOGNISE_AGAIN_MS = 2_000;

function Dashboard() {
  if (session.value === 'unknown') return <Recognising />;
  if (session.value === 'none') return <SignIn />;
  return (
    <>
      <Shell />
      {hasExpired.value && <SignInAgain />}
    </>
  );
}

/** Until it is known who is signed in: shows what is in the way, and asks again until that is gone. */
function Recognising() {
  const answer = useResource('who', recognise, RECOGNISE_AGAIN_MS);
  const problem = answer.problem.value;
  return (
    <main class="sign-in">
      <h1 class="unseen">Tancho</h1>
      {problem === null ? <Waiting /> : <ProblemNote problem={problem} again={() => answer.refresh()} />}
    </main>
  );
}

const root = document.getElementById('app');
if (root !== null) {
  followSystemTheme();
  root.replaceChildren();
  // See begin.ts.
  sessionStorage.removeItem('tancho-begun-again');
  followLinks();
  keepPage();
  render(<Dashboard />, root);
}
