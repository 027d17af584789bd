import { describe, expect, it } from 'vitest';
import { imageHealth } from './image-health.ts';

const SECOND = 1e9;
const shell = (command: string, more: object = {}) => ({ Test: ['CMD-SHELL', command], ...more });

describe('HEALTHCHECK', () => {
  it.each([
    ['curl -f http://localhost:8080/health || exit 1', [8080], '/health'],
    ['curl -fsS "http://127.0.0.1/ok?x=1" > /dev/null', [], '/ok?x=1'],
    ['wget --no-verbose --tries=1 --spider http://localhost:2368/ || exit 1', [2368], '/'],
    ['wget -qO- http://localhost:${PORT}/ping', [3000], '/ping'],
    ['/usr/bin/curl --fail http://[::1]:80', [80], '/'],
  ])('%s asks over HTTP', (command, ports, path) => {
    const health = imageHealth({}, shell(command), ports);
    expect(health.healthCheck).toMatchObject({ path, maxStatus: 399 });
    expect(health.liveness).toEqual({ periodSeconds: 30, timeoutSeconds: 30, failures: 3 });
  });

  it('says how often, how long and how many', () => {
    const said = { Interval: 5 * SECOND, Timeout: 2.5 * SECOND, Retries: 4, StartPeriod: 100 * SECOND };
    expect(imageHealth({}, { Test: ['CMD', 'curl', '-f', 'http://localhost/a'], ...said }, [])).toEqual({
      healthCheck: { path: '/a', maxStatus: 399, allowedFailures: 1000, timeoutSeconds: 120 },
      liveness: { periodSeconds: 5, timeoutSeconds: 3, failures: 4 },
      note: expect.stringContaining('asks for /a, every 5 s; 4 failures') as string,
    });
  });

  it.each([
    'pg_isready -U postgres',
    'curl -f http://other:80/',
    'curl -f https://localhost/',
    'nc -z localhost 80',
    'curl -f http://localhost:9999/',
  ])('%s cannot be used, which is said', (command) => {
    expect(imageHealth({}, shell(command), [80])).toEqual({
      healthCheck: null,
      liveness: null,
      note: expect.stringContaining(command) as string,
    });
  });

  it('of none, or none at all, is nothing; a label comes first and must be a path', () => {
    const nothing = { healthCheck: null, liveness: null, note: '' };
    for (const said of [undefined, null, 'x', { Test: ['NONE'] }, { Test: [] }])
      expect(imageHealth({}, said, [])).toEqual(nothing);
    const label = { 'tancho.healthcheck.path': '/ok' };
    expect(imageHealth(label, shell('curl http://localhost/x'), [])).toMatchObject({ healthCheck: { path: '/ok' } });
    expect(() => imageHealth({ 'tancho.healthcheck.path': 'x' }, null, [])).toThrow(/no path/);
  });

  it('ends in time whatever it is', () => {
    for (const hostile of [
      'curl '.repeat(100_000),
      `curl ${'"'.repeat(200_000)}`,
      `curl http://localhost${'/'.repeat(100_000)} `,
    ]) {
      expect(imageHealth({}, shell(hostile), []).note).not.toBe('');
    }
  });
});
