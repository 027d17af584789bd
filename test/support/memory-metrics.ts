/** Metrics of apps in memory: nothing runs, so nothing was measured. */
import { demand } from '../../src/domain/access.ts';
import { answerTimesOf, type Metrics } from '../../src/domain/metrics/metrics.ts';
import { prometheusText } from '../../src/domain/metrics/prometheus.ts';
import { NO_ANSWERS } from '../../src/lib/answer-counts.ts';
import type { Memory } from './memory-state.ts';

export function metricsIn(memory: Memory): Metrics {
  return {
    async ofApp(caller, app) {
      memory.allowed(caller, 'app.metrics', app);
      return { app, stepSeconds: 10, points: [], answerTimes: answerTimesOf(NO_ANSWERS) };
    },
    async prometheus(caller) {
      demand(caller, 'metrics.all');
      return prometheusText(new Map());
    },
  };
}
