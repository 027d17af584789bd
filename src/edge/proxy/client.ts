/** A client's connection as the data plane sees it as a whole, whatever is spoken on it. */
export interface EdgeClientConnection {
  /** True while an answer is being worked on or has not left this process. */
  readonly busy: boolean;
  /** Closes the connection if it is between two requests. */
  closeWhenIdle(): void;
  /** Ends the connection at once, on behalf of the edge. */
  cut(): void;
}
