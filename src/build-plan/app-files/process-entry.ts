/** What tancho.yaml says of one process: its command, or a mapping of that, how many units it has, how they are watched, and whether they get requests. */
import type { Liveness } from '../../domain/apps/app.ts';
import type { ProcessSettings } from '../../domain/deploys/builder.ts';
import { ROUTED_PROCESS } from '../../domain/units/unit.ts';
import type { YamlNode } from '../yaml-node.ts';
import { healthCheckEntry, urlPath, whole } from './health-check-entry.ts';

export interface ProcessEntry {
  /** Null: said elsewhere. */
  readonly command: string | null;
  readonly settings: ProcessSettings;
}

export const MAX_COUNT = 100;
const MAX_SECONDS = 3_600;
const MAX_FAILURES = 1_000;

/** A label of its host name. */
const LABEL = /^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

export function processEntry(name: string, node: YamlNode): ProcessEntry {
  if (!node.isMap) return { command: node.text('a command such as "node server.js"'), settings: {} };
  const ofRouted = name === ROUTED_PROCESS ? [] : ['routed', 'healthcheck'];
  const fields = node.fields(['command', 'count', 'watch_seconds', 'liveness', ...ofRouted]);
  const command = fields.get('command');
  const liveness = fields.get('liveness');
  return {
    command: command === undefined ? null : command.text('a command such as "node server.js"'),
    settings: {
      ...whole(fields.get('count'), 'count', 0, MAX_COUNT),
      ...whole(fields.get('watch_seconds'), 'watchSeconds', 0, 600),
      ...(liveness !== undefined && { liveness: livenessOf(liveness) }),
      ...routedOf(name, fields.get('routed'), fields.get('healthcheck')),
    },
  };
}

function routedOf(
  name: string,
  routed: YamlNode | undefined,
  check: YamlNode | undefined,
): Pick<ProcessSettings, 'routed' | 'healthCheck'> {
  if (routed === undefined || !routed.flag()) {
    if (check !== undefined) throw check.wrong('needs "routed: true" beside it');
    return {};
  }
  if (!LABEL.test(name))
    throw routed.wrong(
      'needs a process named with lower-case letters, digits and -, since that is part of a host name',
    );
  return { routed: true, ...(check !== undefined && { healthCheck: healthCheckEntry(check) }) };
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
