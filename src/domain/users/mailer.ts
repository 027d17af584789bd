/** Contract: brings letters to people. Implementations live in backends/mailer/<name> and pass backends/mailer/conformance.ts. */
export interface Mail {
  /** One address; checked where users are created. */
  readonly to: string;
  /** One line. */
  readonly subject: string;
  /** Plain text, lines ended by \n. */
  readonly text: string;
}

export interface Mailer {
  /** Where letters go, one line for the operator. */
  readonly description: string;
  /**
   * Resolves when somebody else has taken the letter in charge. Never tried twice by itself: who calls may do it again.
   * Throws PlatformError `unavailable`, and after a minute at most `timeout`, as when the signal fires; nothing of the text is in the message.
   */
  send(mail: Mail, signal?: AbortSignal): Promise<void>;
}
