interface ProblemFacts {
  readonly code: string;
  readonly status?: number;
  readonly hint?: string;
  readonly requestId?: string;
  readonly field?: string;
}

/** What went wrong with a request, in the words of the API. */
export class Problem extends Error {
  /** Of the closed list in docs/errors.md; `lost` when the server was not reached. */
  readonly code: string;
  /** 0 when the server was not reached. */
  readonly status: number;
  readonly hint: string;
  readonly requestId: string;
  /** Of what was sent, where one field is wrong; '' otherwise. */
  readonly field: string;

  constructor(message: string, about: ProblemFacts) {
    super(message);
    this.code = about.code;
    this.status = about.status ?? 0;
    this.hint = about.hint ?? '';
    this.requestId = about.requestId ?? '';
    this.field = about.field ?? fieldOf(about.code);
  }
}

/** `team.invalid_name` and `team.name_taken` are about a name, `cname.invalid` about a cname. */
function fieldOf(code: string): string {
  const [, field = ''] = /\.invalid_(\w+)$|\.(\w+)_taken$|^(\w+)\.(?:invalid|taken)$/.exec(code)?.filter(Boolean) ?? [];
  return field;
}

export function lost(): Problem {
  return new Problem('The server does not answer.', {
    code: 'lost',
    hint: 'Everything goes on by itself once it does.',
  });
}

/** Of whatever was thrown. */
export function problemOf(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown;
  // fetch() throws a TypeError for a connection that could not be made, or that was cut.
  if (thrown instanceof TypeError) return lost();
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new Problem(message, { code: 'dashboard' });
}

/** RFC 9457, as docs/errors.md has it. */
interface ProblemDocument {
  readonly detail?: string;
  readonly code?: string;
  readonly hint?: string;
  readonly details?: { readonly field?: string };
}

export async function problemOfAnswer(response: Response): Promise<Problem> {
  return problemOfText(await response.text(), response.status, response.headers.get('x-request-id') ?? '');
}

/** Of the body of an answer: the document of a problem, or text. */
export function problemOfText(text: string, status: number, requestId: string): Problem {
  const { detail, code, hint = '', details = {} } = documentOf(text);
  if (detail !== undefined && code !== undefined) {
    const { field } = details;
    return new Problem(detail, { code, status, hint, requestId, ...(field !== undefined && { field }) });
  }
  const said = text.trim();
  // A page, or a document of somebody else's.
  if (said === '' || /^[<{]/.test(said)) return strange(status, requestId);
  return new Problem(said.slice(0, 500), { code: 'answer', status, requestId });
}

/** What the server itself does not answer. */
export function strange(status: number, requestId: string): Problem {
  return new Problem(`Something between this page and the server answered in its place (${status}).`, {
    ...{ code: 'answer', status, requestId },
    hint: 'Try again. If that stays so, look at the proxy in front of the server.',
  });
}

function documentOf(text: string): ProblemDocument {
  try {
    const document = JSON.parse(text) as ProblemDocument | null;
    return document ?? {};
  } catch {
    return {};
  }
}
