import { expect, it } from 'vitest';
import { PlatformCounters } from './platform-counters.ts';

it('what the platform has done is reported by operation, by cause and by step, in seconds', () => {
  const counters = new PlatformCounters();
  counters.apiAnswered('apps.list', 200, 3);
  counters.apiAnswered('apps.list', 404, 40_000);
  counters.apiAnswered('apps.info', 200, 1);
  counters.deployEnded('done', null, { building: 2_000, starting: 400 });
  counters.deployEnded('failed', 'build_failed', { building: 100 });
  counters.committed(7);
  const lines = counters.text().split('\n');
  for (const line of [
    'tancho_api_seconds_bucket{operation="apps.list",le="0.0025"} 0',
    'tancho_api_seconds_bucket{operation="apps.list",le="0.005"} 1',
    'tancho_api_seconds_bucket{operation="apps.list",le="30"} 1',
    'tancho_api_seconds_bucket{operation="apps.list",le="+Inf"} 2',
    'tancho_api_seconds_sum{operation="apps.list"} 40.003',
    'tancho_api_seconds_count{operation="apps.list"} 2',
    'tancho_api_seconds_count{operation="apps.info"} 1',
    'tancho_api_answers_total{class="2xx"} 2',
    'tancho_api_answers_total{class="4xx"} 1',
    'tancho_deploys_total{state="done",cause=""} 1',
    'tancho_deploys_total{state="failed",cause="build_failed"} 1',
    'tancho_deploy_step_seconds_sum{step="building"} 2.1',
    'tancho_deploy_step_seconds_count{step="starting"} 1',
    'tancho_store_transaction_seconds_bucket{le="0.01"} 1',
    'tancho_store_transaction_seconds_sum 0.007',
    'tancho_store_transaction_seconds_count 1',
  ]) {
    expect(lines).toContain(line);
  }
});
