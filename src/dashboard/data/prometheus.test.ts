import { expect, it } from 'vitest';
import { prometheusText } from '../../domain/metrics/prometheus.ts';
import { NO_ANSWERS } from '../../lib/answer-counts.ts';
import { memoryByApp } from './prometheus.ts';

it('reads the memory of apps as the platform writes it, the largest first', () => {
  const totals = { cpuMs: 0, restarts: 0, requests: 0, failures: 0, answers: NO_ANSWERS };
  const idle = { cpuMillis: 0, units: 1, restarts: 0, requests: 0, failures: 0, logLines: 0 };
  const of = (memoryBytes: number) => ({ latest: { ...idle, memoryBytes }, totals });
  const text = prometheusText(
    new Map([
      ['small', of(5)],
      ['none', of(0)],
      ['large', of(3 * 2 ** 30)],
    ]),
  );
  expect(memoryByApp(text)).toEqual([
    { app: 'large', bytes: 3 * 2 ** 30 },
    { app: 'small', bytes: 5 },
  ]);
});
