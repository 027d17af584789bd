/** The log: fifty thousand lines a second into it, ten million lines in it. */
import { measureBeside } from '../logs/beside.ts';
import { measureReading } from '../logs/reading.ts';
import { measureWriting } from '../logs/writing.ts';
import type { Measure } from '../bench.ts';

export const logWriting: Measure = {
  name: 'logs-writing',
  about: '50,000 lines a second from twenty units for a minute, and the same with kills of control',
  longMs: 420_000,
  run: measureWriting,
};

export const logReading: Measure = {
  name: 'logs-reading',
  about: 'ten million stored lines: room, last lines, a rare word, a regular expression over a gigabyte',
  longMs: 420_000,
  run: measureReading,
};

export const logBeside: Measure = {
  name: 'logs-beside',
  about: 'the API beside an app that prints as fast as it can, beside the same while nobody prints',
  longMs: 420_000,
  run: measureBeside,
};
