/** What take() returns when the bytes break the framing. */
export const BODY_BAD = -1;

/** Where the parts of a body go; the bytes are only lent until the call returns. */
export type BodySink = (piece: Buffer) => void;

/** Reads one message body off a stream of chunks and hands on what is to be forwarded. */
export interface BodyReader {
  /** True once the whole body has been taken. */
  readonly done: boolean;
  /** More data is announced than may come: the bytes count as bad from there on. */
  readonly isTooLong: boolean;
  /** Takes what belongs to the body out of bytes[from, end); returns how many bytes that were, or BODY_BAD. */
  take(bytes: Buffer, from: number, end: number, sink: BodySink): number;
  /** The connection has ended: true when the body is whole. */
  ended(): boolean;
}
