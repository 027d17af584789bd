import { viewer } from './api/session.ts';
import { signIn } from './api/sign-in.ts';
import { Note } from './parts/content.tsx';
import { Dialog } from './parts/dialog.tsx';
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
        <Credentials />
        <p class="muted small">
          The first admin's password was printed when the server started for the first time.{' '}
          <code>tancho user reset</code> mails a new one.
        </p>
      </div>
    </main>
  );
}

/** Covers what was there, which stays as it is: nothing that was typed is lost. */
export function SignInAgain() {
  return (
    <Dialog title="Sign in" isCover onClose={() => {}}>
      <Note mood="wait">
        Your session has ended. Sign in to go on where you were; what you have typed is still there.
      </Note>
      <Credentials email={viewer().email} />
    </Dialog>
  );
}

function Credentials({ email: known = '' }: { email?: string }) {
  return (
    <Form action="Sign in" onSubmit={({ email = '', password = '' }) => signIn(email.trim(), password)}>
      <Field
        label="E-mail"
        name="email"
        type="email"
        autocomplete="username"
        required
        autoFocus={known === ''}
        value={known}
      />
      <Field
        label="Password"
        name="password"
        type="password"
        autocomplete="current-password"
        required
        autoFocus={known !== ''}
      />
    </Form>
  );
}
