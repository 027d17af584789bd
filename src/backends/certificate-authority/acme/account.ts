/** The account at an authority: found by its key, made when it is not there. */
import { IssueFailure } from '../../../domain/certificates/authority.ts';
import type { Identities } from '../../../domain/certificates/authority-identity.ts';
import { newKey } from '../../../lib/x509/names.ts';
import type { Connection, Signer } from './connection.ts';
import { externalBinding, signingKey } from './jws.ts';

export interface AccountOptions {
  readonly identities: Identities;
  /** '' for none. */
  readonly email: string;
  /** Of an account elsewhere; null where the authority wants none. `secret` is base64url. */
  readonly external: { readonly kid: string; readonly secret: string } | null;
}

/**
 * Registers once; the same key finds the same account again (RFC 8555 section 7.3), so a crash in between makes no second one. `unknown`: URL of one
 * that the authority has forgotten; null: none.
 */
export async function openAccount(
  connection: Connection,
  options: AccountOptions,
  unknown: string | null,
  signal: AbortSignal,
): Promise<Signer> {
  const { identities, email, external } = options;
  const { authority } = connection;
  const known =
    (await identities.identity(authority)) ??
    (await identities.keepIdentity({ authority, key: newKey(), account: '' }));
  const signer = { ...signingKey(known.key), account: null };
  if (known.account !== '' && known.account !== unknown) return { ...signer, account: known.account };
  const { newAccount, externalAccountRequired } = await connection.directory(signal);
  if (externalAccountRequired && external === null) {
    throw new IssueFailure(
      'account_refused',
      `${authority} takes only accounts that it knows (acme.external-account).`,
    );
  }
  const answer = await connection.post(
    signer,
    newAccount,
    {
      termsOfServiceAgreed: true,
      ...(email !== '' && { contact: [`mailto:${email}`] }),
      ...(external !== null && {
        externalAccountBinding: externalBinding(external.kid, external.secret, newAccount, signer.jwk),
      }),
    },
    signal,
  );
  if (!URL.canParse(answer.location)) {
    throw new IssueFailure('authority_away', `${authority} made an account and does not say where.`);
  }
  await identities.setAccount(authority, answer.location);
  return { ...signer, account: answer.location };
}
