/** Lines of a stream of bytes, without their ends; longer ones are cut. */

export async function* linesOf(stream: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let size = 0;
  const taken = (): Buffer => {
    const line = Buffer.concat(parts);
    parts = [];
    size = 0;
    return line;
  };
  for await (const chunk of stream) {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      parts.push(chunk.subarray(from, end));
      yield taken();
      from = end + 1;
    }
    if (from < chunk.length) {
      const rest = chunk.subarray(from);
      parts.push(rest);
      size += rest.length;
      if (size > maxBytes) yield taken();
    }
  }
  if (size > 0) yield taken();
}
