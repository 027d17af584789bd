import { call } from './api/call.ts';
import { viewer } from './api/session.ts';
import { signIn } from './api/sign-in.ts';
import { Note } from './parts/content.tsx';
import { Dialog } from './parts/dialog.tsx';
import { Field, Form } from './parts/form.tsx';
import { FormDialog } from './parts/form-dialog.tsx';
import { Mark } from './parts/icon.tsx';
import { Toasts } from './parts/toasts.tsx';

/** The address stays, so that whoever signs in is where they wanted to be. */
export function SignIn() {
  return (
    <>
      <main class="sign-in">
        <div>
          <div class="brand">
            <Mark /> Tancho
          </div>
          <h1>Sign in</h1>
          <Credentials />
          <NewPassword />
          <p class="muted small">The first admin's password was printed when the server started for the first time.</p>
        </div>
      </main>
      <div class="toasts">
        <Toasts />
      </div>
    </>
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

/** For whoever has forgotten it: a letter brings a token, and the token a new password. */
function NewPassword() {
  return (
    <div class="row">
      <FormDialog
        title="Forgot the password?"
        action="Send a letter"
        done="A letter with a token is on its way."
        onDone={() => {}}
        onSubmit={({ email = '' }) =>
          call('POST /users/{email}/password', { params: { email: email.trim() }, query: {}, body: {} })
        }
      >
        <Field label="Your e-mail" name="email" type="email" autocomplete="username" required />
      </FormDialog>
      <FormDialog
        title="I have a token"
        action="Set the password"
        done="Sign in with the new password."
        onDone={() => {}}
        onSubmit={({ email = '', token = '', password = '' }) =>
          call('POST /users/{email}/password', {
            params: { email: email.trim() },
            query: {},
            body: { token: token.trim(), password },
          })
        }
      >
        <Field label="Your e-mail" name="email" type="email" autocomplete="username" required />
        <Field label="Token" name="token" class="mono" required help="From the letter. It works once, for a day." />
        <Field label="New password" name="password" type="password" autocomplete="new-password" required />
      </FormDialog>
    </div>
  );
}
