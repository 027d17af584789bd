/** Which headers pass when a request is handed on to the provider of a service: named ones only, in both directions. */
type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

const ASKED = ['accept', 'accept-language', 'if-match', 'if-modified-since', 'if-none-match', 'prefer'];
const ANSWERED = ['content-type', 'content-disposition', 'etag', 'last-modified', 'location', 'retry-after'];

/** Never the caller's token or cookies. `contentType`: as the client sent it. */
export function askedHeaders(headers: Headers, contentType: string): Record<string, string> {
  return { ...named(headers, ASKED), ...(contentType !== '' && { 'content-type': contentType }) };
}

/** What a provider sends must not act as a page of the platform. */
export function answeredHeaders(headers: Headers): Record<string, string> {
  return { ...named(headers, ANSWERED), 'content-security-policy': 'sandbox' };
}

function named(headers: Headers, names: readonly string[]): Record<string, string> {
  const found = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return Object.fromEntries(
    found.flatMap(([name, value]) => (names.includes(name) && typeof value === 'string' ? [[name, value]] : [])),
  );
}
