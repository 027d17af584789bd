/** Finds what looks like a credential in the text of somebody else, whose secrets are not known. Errs on the side of hiding. */

const HIDDEN = '***';
/** `scheme://user:password@host`, also without a user. */
const IN_ADDRESS = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#@"'<>]{1,500}@/gi;
/** `"password": "..."`, `api_key=...`, `Token: ...`. */
const NAMED =
  /((?:pass(?:word|wd|phrase)?|pwd|secret|token|credentials?|(?:api|access|private|auth|signing)[-_ ]?key)["']?\s*[:=]\s*)("(?:[^"\\]|\\.)*"|'[^']*'|[^\s,;&"'}]+)/gi;
const SCHEME = /\b(Bearer|Basic)\s+[A-Za-z0-9+/=._~-]{8,}/g;
const PEM = /-----BEGIN [A-Z0-9 ]+-----[^]*?(?:-----END [A-Z0-9 ]+-----|$)/g;

export function withoutCredentials(text: string): string {
  return text
    .replace(PEM, HIDDEN)
    .replace(IN_ADDRESS, `$1${HIDDEN}@`)
    .replace(SCHEME, `$1 ${HIDDEN}`)
    .replace(NAMED, `$1${HIDDEN}`);
}
