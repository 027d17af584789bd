/** A setting that cannot be used. `message` is one line that names the file or variable; never has a secret in it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly code = 'config.invalid';
  /** What to do next, one sentence. */
  readonly hint: string;

  constructor(message: string, hint: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.hint = hint;
  }
}
