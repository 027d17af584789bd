import { expect, it } from 'vitest';
import { processorMs } from '../../../test/support/processor-ms.ts';
import { readMultipart } from './multipart-text.ts';

const read = (text: string) => readMultipart({ text, mediaType: 'multipart/form-data' });

it('reads the parts of a form', () => {
  const part = (head: string, content: string): string => `--b\r\n${head}\r\n\r\n${content}\r\n`;
  const form = `${part('Content-Disposition: form-data; name="a"', '1')}${part('Content-Disposition: form-data; name=b', '2\r\n3')}--b--`;
  expect(read(form)).toEqual(
    new Map([
      ['a', '1'],
      ['b', '2\r\n3'],
    ]),
  );
  expect(read('a=1')).toBeNull();
});

it('a head of nothing but its first word holds nobody up', () => {
  const begun = processorMs();
  expect(read(`--b\r\n${'content-disposition:'.repeat(100_000)}\r\n\r\nx`)).toBeNull();
  expect(processorMs() - begun).toBeLessThan(10_000);
});
