import { expect, it } from 'vitest';
import { RequestFailure } from '../../../lib/guarded/guarded-request.ts';
import { asFailure } from './failures.ts';

it.each([
  ['pull', 'unreachable', /ask the operator to let the server reach that registry/],
  ['push', 'unreachable', /ask the operator to let the server reach that registry/],
  ['pull', 'malformed', /ask who runs the registry/],
] as const)('says whose turn it is when a %s ends as %s', (what, code, hint) => {
  const thrown = new RequestFailure(code, 'r.example: The name r.example has no address.', false);
  const message = `The image cannot be ${what}ed: r.example: The name r.example has no address.`;
  const says = expect.stringMatching(hint) as string;
  expect(asFailure(thrown, null, 1, what)).toMatchObject({ code: `${what}_failed`, message, hint: says });
});
