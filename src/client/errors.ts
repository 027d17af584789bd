/** The one error of the client: what the server said, or what kept us from hearing it. */
interface ClientErrorFields {
  /** HTTP status; 0 when there was no answer of the platform. 200 when a stream that had begun well ended with an error. */
  readonly status: number;
  /** The server's code (docs/errors.md), or one of ours: client.unreachable, client.timeout, client.redirected, client.bad_answer. */
  readonly code: string;
  /** What to do next; '' when nobody said. */
  readonly hint?: string;
  /** Under which the server logged it; '' when there is none. */
  readonly requestId?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

export class ClientError extends Error {
  override readonly name = 'ClientError';
  readonly status: number;
  readonly code: string;
  readonly hint: string;
  readonly requestId: string;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(message: string, fields: ClientErrorFields) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.status = fields.status;
    this.code = fields.code;
    this.hint = fields.hint ?? '';
    this.requestId = fields.requestId ?? '';
    this.details = fields.details ?? {};
  }
}

/** A body with status >= 400: problem+json (RFC 9457), or plain text when something on the way answered. */
export function errorFromBody(status: number, body: string, requestIdHeader: string): ClientError {
  const problem = parseObject(body);
  if (problem === null) {
    const { message, hint } = messageAndHint(body.slice(0, 2000));
    return new ClientError(message === '' ? `The server answered with status ${status}.` : message, {
      status,
      code: 'client.bad_answer',
      hint,
      requestId: requestIdHeader,
    });
  }
  const message = textOf(problem, 'detail', 'message', 'title');
  return new ClientError(message === '' ? `The server answered with status ${status}.` : message, {
    status,
    ...problemFields(problem, requestIdHeader),
  });
}

/** An error frame of a stream: its text is the message and, on a second line, what to do next. */
export function errorFromFrame(frame: Readonly<Record<string, unknown>>, requestIdHeader: string): ClientError {
  const { message, hint } = messageAndHint(textOf(frame, 'Error'));
  const fields = problemFields(frame, requestIdHeader);
  return new ClientError(message === '' ? 'The operation failed.' : message, {
    status: 200,
    ...fields,
    hint: fields.hint === '' ? hint : fields.hint,
  });
}

function messageAndHint(text: string): { message: string; hint: string } {
  const lines = text.trim().split('\n');
  const [message = '', hint = ''] = lines;
  return lines.length === 2 ? { message, hint } : { message: text.trim(), hint: '' };
}

function problemFields(from: Readonly<Record<string, unknown>>, requestIdHeader: string) {
  const details = from['details'] ?? from['Details'];
  const requestId = textOf(from, 'requestId', 'request_id', 'RequestId');
  return {
    code: textOf(from, 'code', 'Code') || 'failed',
    hint: textOf(from, 'hint', 'Hint'),
    requestId: requestId === '' ? requestIdHeader : requestId,
    details: typeof details === 'object' && details !== null ? { ...details } : {},
  };
}

function textOf(from: Readonly<Record<string, unknown>>, ...names: readonly string[]): string {
  for (const name of names) {
    const value = from[name];
    if (typeof value === 'string' && value !== '') return value;
  }
  return '';
}

export function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}
