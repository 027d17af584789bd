/** A multipart form as clients of this API send it. */
export const MULTIPART = 'multipart/form-data; boundary=xYzZy';

export interface Part {
  readonly name: string;
  readonly body: string | Buffer;
  /** Makes the part a file. */
  readonly filename?: string;
}

export function multipart(parts: readonly Part[], options: { readonly isCut?: boolean } = {}): Buffer {
  const pieces = parts.flatMap(({ name, body, filename }) => [
    `--xYzZy\r\nContent-Disposition: form-data; name="${name}"`,
    filename === undefined ? '\r\n\r\n' : `; filename="${filename}"\r\nContent-Type: application/octet-stream\r\n\r\n`,
    body,
    '\r\n',
  ]);
  return Buffer.concat(
    [...pieces, ...(options.isCut === true ? [] : ['--xYzZy--\r\n'])].map((piece) => Buffer.from(piece)),
  );
}
