import { describe, expect, it } from 'vitest';
import { parseProcfile } from './procfile.ts';

describe('parseProcfile', () => {
  it('reads names and commands, skipping comments and blank lines', () => {
    const text = '# how it starts\r\nweb: node server.js --port $PORT\r\n\r\n  worker_2 :  sh -c "a: b"  \n';
    expect(parseProcfile(text)).toEqual({ web: 'node server.js --port $PORT', worker_2: 'sh -c "a: b"' });
  });

  it('reads an empty file as no process', () => {
    expect(parseProcfile('\n# nothing\n')).toEqual({});
  });

  it.each([
    ['node server.js', /line 1: expected "name: command", found "node server.js"/],
    ['web: a\n\nweb: b', /line 3: the process "web" is defined twice/],
    ['# x\nweb:', /line 2: the process "web" has no command/],
    ['2nd: x', /line 1: the process name "2nd" must start with a letter/],
    ['__proto__: x', /line 1: the process name/],
    ['tancho: x', /line 1: the process name "tancho" must .* not be tancho/],
    [`web: ${'x'.repeat(5000)}`, /line 1: the command of "web" is longer/],
    [Array.from({ length: 51 }, (_, index) => `p${index}: x`).join('\n'), /more than 50 processes/],
  ])('names the line of a mistake: %j', (text, message) => {
    expect(() => parseProcfile(text)).toThrow(message);
  });
});
