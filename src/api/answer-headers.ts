/** The headers that every answer has. */

export const JSON_TYPE = 'application/json; charset=utf-8';

export function commonHeaders(id: string): Record<string, string> {
  return { 'x-request-id': id, 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };
}
