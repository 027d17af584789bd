/** Pure: the instructions of a Dockerfile, each with the line it begins on. What is inside of them is not looked at. */

export interface Instruction {
  /** In upper case. */
  readonly name: string;
  /** The rest, its lines put together. */
  readonly text: string;
  /** From 1. */
  readonly line: number;
  /** What a heredoc begins with, such as `<<EOF`; '' without one. */
  readonly heredoc: string;
}

/** The word stands directly behind it: `1 << n` is none. */
const HEREDOC = /(?:^|\s)<<-?(["']?)([A-Za-z_]\w*)\1/g;
const DIRECTIVE = /^#\s*([a-z]+)\s*=\s*(\S+)\s*$/i;

export function readInstructions(text: string): Instruction[] {
  const lines = text.split(/\r\n|\n|\r/);
  const escape = escapeOf(lines);
  const found: Instruction[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const first = lines[at] ?? '';
    if (isSkipped(first)) continue;
    const line = at + 1;
    let whole = '';
    for (; at < lines.length; at += 1) {
      const part = lines[at] ?? '';
      if (whole !== '' && isSkipped(part)) continue;
      const isContinued = part.trimEnd().endsWith(escape);
      whole += isContinued ? part.trimEnd().slice(0, -1) : part;
      if (!isContinued) break;
    }
    const [, name = '', rest = ''] = /^\s*([A-Za-z]+)\s*(.*)$/s.exec(whole) ?? [];
    const isTaking = /^(?:RUN|COPY|ADD)$/i.test(name);
    const heredocs = isTaking ? [...rest.matchAll(HEREDOC)] : [];
    // One begins behind the end of the one before.
    for (const [, , word] of heredocs) for (at += 1; at < lines.length && (lines[at] ?? '').trim() !== word;) at += 1;
    found.push({ name: name.toUpperCase(), text: rest.trim(), line, heredoc: heredocs[0]?.[0].trim() ?? '' });
  }
  return found;
}

/** Directives stand before everything else. */
function escapeOf(lines: readonly string[]): string {
  for (const line of lines) {
    const [, name = '', value = ''] = DIRECTIVE.exec(line) ?? [];
    if (name === '') break;
    if (name.toLowerCase() === 'escape') return value === '`' ? '`' : '\\';
  }
  return '\\';
}

function isSkipped(line: string): boolean {
  return /^\s*(?:#|$)/.test(line);
}
