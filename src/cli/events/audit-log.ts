/** The audit log, row by row: from the server, or from a file that it was exported to. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Client } from '../../client/client.ts';
import { isRecord } from '../../lib/is-record.ts';
import { parseCheckpoint } from '../../lib/transparency-log/checkpoint.ts';
import type { Forgets, LogClaims, LogRow } from '../../lib/transparency-log/verify.ts';
import { CliError } from '../errors.ts';

/** One line of an exported file. A checkpoint comes after the last row that it is about, the head at the end. */
export type LogPart = { readonly row: LogRow } | { readonly checkpoint: string } | { readonly head: LogClaims };

export async function* logOfServer(client: Client): AsyncGenerator<LogPart> {
  for (let from = 0; ;) {
    const { rows, checkpoints, size, checkpoint, key } = await client.events.log(from);
    const older = checkpoints.map((note) => ({ note, size: parseCheckpoint(note)?.size ?? 0 }));
    for (const row of rows) {
      yield { row };
      from += 1;
      while (older[0] !== undefined && older[0].size <= from) yield { checkpoint: older.shift()?.note ?? '' };
    }
    if (rows.length > 0 && from < size) continue;
    yield { head: { checkpoint, key } };
    return;
  }
}

export async function* logOfFile(file: string): AsyncGenerator<LogPart> {
  const lines = createInterface({ input: createReadStream(file), crlfDelay: Infinity });
  let number = 0;
  for await (const line of lines) {
    number += 1;
    const part = partOf(line);
    if (part === null) {
      throw new CliError(
        `Line ${number} of ${file} is no line of an audit log.`,
        'Export it anew: tancho event export <file>',
      );
    }
    yield part;
  }
}

function partOf(line: string): LogPart | null {
  let given: unknown;
  try {
    given = JSON.parse(line);
  } catch {
    return null;
  }
  if (!isRecord(given)) return null;
  const { row, checkpoint, head } = given;
  if (typeof checkpoint === 'string') return { checkpoint };
  if (isRecord(head)) {
    const { key, checkpoint: newest } = head;
    return typeof key === 'string' && typeof newest === 'string' ? { head: { key, checkpoint: newest } } : null;
  }
  if (!isRecord(row)) return null;
  const { index, leaf, salt, content } = row;
  const isRow = typeof index === 'number' && typeof leaf === 'string' && typeof salt === 'string';
  return isRow && (content === null || typeof content === 'string') ? { row: { index, leaf, salt, content } } : null;
}

const FORGETS = '"action":"event.forget"';

/** What the platform itself has removed, because it was old or too much: such a row says of which. */
export function forgetsOf(content: string): Forgets | null {
  if (!content.includes(FORGETS)) return null;
  const { action, actor, detail }: Partial<Record<string, unknown>> = JSON.parse(content);
  const match = /^before (\d{1,15})(?:;((?: \d{1,15}(?:-\d{1,15})?)+))?$/.exec(
    typeof detail === 'string' ? detail : '',
  );
  if (action !== 'event.forget' || actor !== 'tancho' || match === null) return null;
  const rows = (match[2] ?? '')
    .trim()
    .split(' ')
    .filter((part) => part !== '')
    .flatMap((part) => {
      const [first = 0, last = first] = part.split('-').map(Number);
      return Array.from({ length: Math.max(0, Math.min(last - first + 1, MOST_AT_ONCE)) }, (_, at) => first + at);
    });
  return { before: Number(match[1]), rows };
}

/** Rows that one row can forget: two of each of the events that are removed together. */
const MOST_AT_ONCE = 10_000;
