import { expect, it } from 'vitest';
import { readInstructions } from '../../../../build-plan/languages/dockerfile/instructions.ts';
import { readStages } from '../../../../build-plan/languages/dockerfile/stages.ts';
import { type DockerfileBase, rewritten } from './bases.ts';

const base = (image: string): DockerfileBase => ({ image, name: image, tag: `localhost/${image}:1` });

it('names images by their tags, and no stage whose name begins as one', () => {
  const text = [
    'FROM node:20 AS node-build',
    'FROM debian AS debian-slim',
    'COPY --from=node-build /a /a',
    'COPY --from=node /usr/local/bin/node /b',
    'FROM debian-slim',
  ].join('\n');
  const recipe = readStages(readInstructions(text));
  expect(rewritten(text, recipe, ['node:20', 'node', 'debian'].map(base), {}).split('\n')).toEqual([
    'FROM localhost/node:20:1 AS node-build',
    'FROM localhost/debian:1 AS debian-slim',
    'COPY --from=node-build /a /a',
    'COPY --from=localhost/node:1 /usr/local/bin/node /b',
    'FROM debian-slim',
  ]);
});
