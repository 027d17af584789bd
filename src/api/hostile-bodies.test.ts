/** Bodies are read by the process that serves everybody, before it is known who may do what. */
import { expect, it } from 'vitest';
import { processorMs } from '../../test/support/processor-ms.ts';
import { FORM, readBodyFields } from './body.ts';
import { readEnvSet } from './operations/env-input.ts';
import { readNewInstance } from './operations/instance-input.ts';

const body = (text: string) => ({ text, mediaType: FORM });
const unlabelled = (text: string) => ({ text, mediaType: '' });

it.each<[string, () => unknown]>([
  ['a form with one name again and again', () => readBodyFields(body('a=&'.repeat(300_000)))],
  [
    'a form with very many names',
    () => readNewInstance(body(Array.from({ length: 100_000 }, (_, at) => `a${at}=`).join('&')), 'db'),
  ],
  ['variables with much white space between them', () => readEnvSet(unlabelled(`A=1${' '.repeat(600_000)};`), {})],
])('%s is read in time', (_what, read) => {
  const begun = processorMs();
  expect(read()).toBeDefined();
  expect(processorMs() - begun).toBeLessThan(10_000);
});
