/** What tancho.yaml says of how a new unit is asked whether it is ready. */
import type { HealthCheck } from '../../domain/apps/app.ts';
import type { YamlNode } from '../yaml-node.ts';

const KEYS = ['path', 'method', 'status', 'match', 'allowed_failures', 'timeout_seconds'];
const MAX_SECONDS = 3_600;

/** `also`: keys beside these that others read; `ignored`: is called with each other key, which is a mistake without it. */
export function healthCheckEntry(
  node: YamlNode,
  also: readonly string[] = [],
  ignored?: (key: string) => void,
): HealthCheck {
  const fields = node.fields([...KEYS, ...also], ignored);
  const path = fields.get('path');
  const needsPath = ['method', 'status', 'match'].map((name) => fields.get(name)).find((found) => found !== undefined);
  if (path === undefined && needsPath !== undefined)
    throw node.wrong(`needs a path, without which ${needsPath.key} means nothing`);
  const method = fields.get('method');
  const match = fields.get('match');
  match?.regex('s');
  return {
    ...(path !== undefined && { path: urlPath(path) }),
    ...(method !== undefined && { method: httpMethod(method) }),
    ...whole(fields.get('status'), 'status', 100, 599),
    ...(match !== undefined && { match: match.text() }),
    ...whole(fields.get('allowed_failures'), 'allowedFailures', 0, 1000),
    ...whole(fields.get('timeout_seconds'), 'timeoutSeconds', 1, MAX_SECONDS),
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

function httpMethod(node: YamlNode): string {
  const method = node.text('an HTTP method such as GET').toUpperCase();
  if (!/^[A-Z]{1,20}$/.test(method)) throw node.mistake('an HTTP method such as GET');
  return method;
}
