/** A web page: to a question that programs ask, it is the answer of something that stands in front, whatever its status says. */
export function isPage(text: string): boolean {
  return /^\s*<(?:!doctype\s+html|html)\b/i.test(text.slice(0, 1_000));
}
