import { hasExpired } from './api/session.ts';
import { signIn } from './api/sign-in.ts';
import { Note } from './parts/content.tsx';
import { Field, Form } from './parts/form.tsx';
import { Mark } from './parts/icon.tsx';

/** The address stays, so that whoever signs in is where they wanted to be. */
export function SignIn() {
  return (
    <main class="sign-in">
      <div>
        <div class="brand">
          <Mark /> Tancho
        </div>
        <h1>Sign in</h1>
        {hasExpired.value && <Note mood="wait">Your session has ended. Sign in to go on where you were.</Note>}
        <Form action="Sign in" onSubmit={({ email = '', password = '' }) => signIn(email.trim(), password)}>
          <Field label="E-mail" name="email" type="email" autocomplete="username" required autoFocus />
          <Field label="Password" name="password" type="password" autocomplete="current-password" required />
        </Form>
        <p class="muted small">
          The first admin's password was printed when the server started for the first time.{' '}
          <code>tancho user reset</code> mails a new one.
        </p>
      </div>
    </main>
  );
}
