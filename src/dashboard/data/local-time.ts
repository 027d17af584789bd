/** Times as fields of the browser have them: in the viewer's zone, without a zone, to the minute. */

/** '' for what is no moment. */
export function localTime(text: string): string {
  const at = Date.parse(text);
  if (Number.isNaN(at)) return '';
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

export function utcTime(local: string): string {
  const at = Date.parse(local);
  return Number.isNaN(at) ? '' : new Date(at).toISOString();
}
