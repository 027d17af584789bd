/** What tancho.yaml says of one process: its command, or a mapping of that and how many units it has and how they are watched. */
import type { Liveness } from '../../domain/apps/app.ts';
import type { ProcessSettings } from '../../domain/deploys/builder.ts';
import type { YamlNode } from '../yaml-node.ts';

export interface ProcessEntry {
  /** Null: said elsewhere. */
  readonly command: string | null;
  readonly settings: ProcessSettings;
}

export const MAX_COUNT = 100;
const MAX_SECONDS = 3_600;
const MAX_FAILURES = 1_000;

export function processEntry(node: YamlNode): ProcessEntry {
  if (!node.isMap) return { command: node.text('a command such as "node server.js"'), settings: {} };
  const fields = node.fields(['command', 'count', 'watch_seconds', 'liveness']);
  const command = fields.get('command');
  const liveness = fields.get('liveness');
  return {
    command: command === undefined ? null : command.text('a command such as "node server.js"'),
    settings: {
      ...whole(fields.get('count'), 'count', 0, MAX_COUNT),
      ...whole(fields.get('watch_seconds'), 'watchSeconds', 0, 600),
      ...(liveness !== undefined && { liveness: livenessOf(liveness) }),
    },
  };
}

/** `off`, or a mapping. */
export function livenessOf(node: YamlNode): Liveness | 'off' {
  if (!node.isMap) {
    if (node.isText ? node.text() === 'off' : !node.isEmpty && !node.isList && !node.flag()) return 'off';
    throw node.mistake('off, or a mapping with path or command, period_seconds, timeout_seconds and failures');
  }
  const fields = node.fields(['path', 'command', 'period_seconds', 'timeout_seconds', 'failures']);
  const path = fields.get('path');
  const command = fields.get('command');
  if (path !== undefined && command !== undefined) throw command.wrong('and path exclude each other: keep one of them');
  return {
    ...(path !== undefined && { path: urlPath(path) }),
    ...(command !== undefined && { command: command.text('a command such as "./alive"') }),
    ...whole(fields.get('period_seconds'), 'periodSeconds', 1, MAX_SECONDS),
    ...whole(fields.get('timeout_seconds'), 'timeoutSeconds', 1, MAX_SECONDS),
    ...whole(fields.get('failures'), 'failures', 1, MAX_FAILURES),
  };
}

export function whole<K extends string>(
  node: YamlNode | undefined,
  name: K,
  min: number,
  max: number,
): { [key in K]?: number } {
  return node === undefined ? {} : ({ [name]: node.integer(min, max) } as { [key in K]: number });
}

export function urlPath(node: YamlNode): string {
  const path = node.text('a path such as /health');
  if (!/^[\x21-\x7e]{1,1024}$/.test(path)) throw node.mistake('a path such as /health');
  return path.startsWith('/') ? path : `/${path}`;
}
