/** Whoever a client connection's bytes belong to at the moment: an exchange or a tunnel. */
export interface ClientUser {
  /** True when it ends by itself, so that a stop waits for it. */
  readonly endsByItself: boolean;
  /** False: keep the client's bytes until ClientConnection.pump() is called. */
  readonly wantsBytes: boolean;
  /** Takes what is its own out of bytes[from, end); returns how many bytes that were. */
  clientSent(bytes: Buffer, from: number, end: number): number;
  /** Everything written to the client has left this process. */
  clientFlushed(): void;
  /** The client has closed its sending side. */
  clientEnded(): void;
  /** The connection is gone; nothing may be written any more. */
  clientGone(): void;
  /** The edge ends, and cannot wait any longer. */
  cut(): void;
  /** The deadline set by arm() has passed. */
  expire(): void;
}
