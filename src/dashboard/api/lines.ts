/** Answers that come piece by piece: lines, frames of JSON, and events. */

/** Lines without their ends; an unfinished last one too. */
async function* lines(response: Response): AsyncGenerator<string> {
  if (response.body === null) return;
  let rest = '';
  for await (const text of response.body.pipeThrough(
    new TextDecoderStream() as ReadableWritablePair<string, Uint8Array<ArrayBuffer>>,
  )) {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) yield part.endsWith('\r') ? part.slice(0, -1) : part;
  }
  if (rest !== '') yield rest;
}

/** One JSON value per line. */
export async function* ndjson(response: Response): AsyncGenerator<unknown> {
  for await (const line of lines(response)) if (line.trim() !== '') yield JSON.parse(line);
}

export interface ServerEvent {
  readonly id: string;
  readonly data: string;
}

/**
 * Server-Sent Events, all that came together at once; none where the server only says that it is there. EventSource cannot send the
 * header by which the server knows this page, and says nothing about why it was refused.
 */
export async function* eventBatches(response: Response): AsyncGenerator<readonly ServerEvent[]> {
  if (response.body === null) return;
  let rest = '';
  for await (const text of response.body.pipeThrough(
    new TextDecoderStream() as ReadableWritablePair<string, Uint8Array<ArrayBuffer>>,
  )) {
    const { events, rest: left } = readEvents(rest + text);
    rest = left;
    yield events;
  }
}

function readEvents(text: string): { events: ServerEvent[]; rest: string } {
  const blocks = text.split('\n\n');
  const rest = blocks.pop() ?? '';
  const events: ServerEvent[] = [];
  for (const block of blocks) {
    let id = '';
    const data: string[] = [];
    for (const line of block.split('\n')) {
      if (line.startsWith('id: ')) id = line.slice(4);
      else if (line.startsWith('data: ')) data.push(line.slice(6));
    }
    if (data.length > 0) events.push({ id, data: data.join('\n') });
  }
  return { events, rest };
}
