/** One packet of git's protocol: the length in four hexadecimal digits, itself included, then the text. */
export function packetLine(text: string): string {
  return (Buffer.byteLength(text) + 4).toString(16).padStart(4, '0') + text;
}
