import { describe, expect, it } from 'vitest';
import { parseAppConfig } from './app-config.ts';

const OPTIONS = [{ key: 'root', variable: 'STATIC_ROOT', description: 'a directory' }];

function parse(text: string, file = 'tancho.yaml', notes: string[] = []) {
  return parseAppConfig(file, text, { section: 'static', options: OPTIONS, note: (note) => notes.push(note) });
}

describe('parseAppConfig', () => {
  it('reads every key', () => {
    const text = [
      'hooks:',
      '  build: [make css, make js]',
      '  release: [npm run migrate]',
      '  restart:',
      '    before: [npm run migrate]',
      '    after: [npm run warm]',
      'healthcheck: { path: health, method: head, status: 204, match: "^ok", allowed_failures: 2, timeout_seconds: 30, liveness: off }',
      'processes:',
      '  web: node server.js',
      '  worker: { command: node worker.js, count: 0, watch_seconds: 10 }',
      '  clock: { liveness: { command: ./alive, period_seconds: 30, timeout_seconds: 2, failures: 5 } }',
      '  admin: { command: node admin.js, routed: true, healthcheck: { path: ready, status: 204 } }',
      '  seed: { command: node seed.js, routed: false }',
      'volumes:',
      '  uploads: /uploads/',
      '  db: { path: ./data, size: 2G, single: true, processes: [web] }',
      'bindings: { shop-db: { POSTGRES_URL: DATABASE_URL } }',
      'maintenance_page: public/down.html',
      'static: { root: public }',
    ].join('\n');
    expect(parse(text)).toEqual({
      hooksBuild: ['make css', 'make js'],
      hooksRelease: ['npm run migrate'],
      restartBefore: ['npm run migrate'],
      restartAfter: ['npm run warm'],
      healthCheck: {
        path: '/health',
        method: 'HEAD',
        status: 204,
        match: '^ok',
        allowedFailures: 2,
        timeoutSeconds: 30,
      },
      liveness: 'off',
      maintenancePage: 'public/down.html',
      processes: {
        web: { command: 'node server.js', settings: {} },
        worker: { command: 'node worker.js', settings: { count: 0, watchSeconds: 10 } },
        clock: {
          command: null,
          settings: { liveness: { command: './alive', periodSeconds: 30, timeoutSeconds: 2, failures: 5 } },
        },
        admin: { command: 'node admin.js', settings: { routed: true, healthCheck: { path: '/ready', status: 204 } } },
        seed: { command: 'node seed.js', settings: {} },
      },
      bindings: { 'shop-db': { POSTGRES_URL: 'DATABASE_URL' } },
      volumes: {
        uploads: { path: '/uploads', processes: [] },
        db: { path: 'data', processes: ['web'], maxBytes: 2 * 1024 ** 3, isSingle: true },
      },
      options: { STATIC_ROOT: 'public' },
    });
  });

  it.each(['', 'hooks:\nhealthcheck:\n', '# nothing\n'])('reads %j as nothing said', (text) => {
    expect(parse(text)).toEqual({
      hooksBuild: [],
      hooksRelease: [],
      restartBefore: [],
      restartAfter: [],
      healthCheck: null,
      liveness: null,
      maintenancePage: null,
      processes: null,
      bindings: {},
      volumes: {},
      options: {},
    });
  });

  it.each([
    ['a: [', /tancho.yaml line 1: this is not YAML/],
    ['- web', /line 1: the file must be a mapping of keys to values, found a list/],
    [
      'hook:\n  build: []',
      /line 1: hook is not a known key; known here: hooks, healthcheck, processes, volumes, bindings, maintenance_page, static/,
    ],
    ['hooks:\n  build: make', /line 2: hooks.build must be a list of commands.*found the text "make"/],
    ['hooks:\n  build:\n    - make\n    - 7', /line 4: hooks.build\[1\] must be text, found 7/],
    ['hooks:\n  restart:\n    befor: [x]', /line 3: hooks.restart.befor is not a known key/],
    ['healthcheck:\n  status: 200', /line 1: healthcheck needs a path, without which healthcheck.status means nothing/],
    [
      'healthcheck:\n  path: /x\n  status: ok',
      /line 3: healthcheck.status must be a whole number from 100 to 599, found the text "ok"/,
    ],
    ['healthcheck:\n  path: /x\n  match: "("', /line 3: healthcheck.match must be a valid regular expression/],
    ['healthcheck:\n  path: "/a b"', /line 2: healthcheck.path must be a path such as \/health/],
    ['processes: [web]', /line 1: processes must be a mapping of process names to commands/],
    ['processes:\n  "a b": x', /line 2: processes.a b must be named with letters/],
    ['processes:\n  tancho: x', /line 2: processes.tancho must be named .* not tancho/],
    ['processes:\n  web: {count: -1}', /line 2: processes.web.count must be a whole number from 0 to 100, found -1/],
    ['processes:\n  web: {routed: true}', /line 2: processes.web.routed is not a known key/],
    ['processes:\n  a: {routed: yes please}', /processes.a.routed must be true or false/],
    ['processes:\n  a_b: {routed: true}', /processes.a_b.routed needs a process named with lower-case letters/],
    ['processes:\n  a: {healthcheck: {path: /x}}', /processes.a.healthcheck needs "routed: true" beside it/],
    ['processes:\n  a: {routed: true, healthcheck: {liveness: off}}', /healthcheck.liveness is not a known key/],
    ['healthcheck:\n  liveness: on', /line 2: healthcheck.liveness must be off, or a mapping/],
    ['healthcheck:\n  liveness: {path: /x, command: y}', /liveness.command and path exclude each other/],
    ['bindings: {db: A}', /line 1: bindings.db must be a mapping such as "POSTGRES_URL: DATABASE_URL"/],
    ['bindings: {db: {A-B: C}}', /line 1: bindings.db.A-B is no name of a variable/],
    ['bindings: {db: {A: 7}}', /line 1: bindings.db.A must be the name of a variable/],
    ['maintenance_page: [a]', /line 1: maintenance_page must be a path such as public\/maintenance.html/],
    ['volumes: [a]', /line 1: volumes must be a mapping/],
    ['volumes:\n  A: /a', /line 2: volumes.A is wrong: "A" is no name of a volume/],
    ['volumes:\n  a: /etc/x', /line 2: volumes.a is wrong: A volume cannot be mounted at \/etc\/x/],
    ['volumes:\n  a: {size: 1G}', /line 2: volumes.a needs a path/],
    ['volumes:\n  a: {path: x, size: big}', /line 2: volumes.a.size must be a size such as 512M or 10G/],
    ['volumes:\n  a: x\n  b: x/y', /line 1: volumes is wrong: The volumes a \(at x\) and b \(at x\/y\)/],
    ['processes:\n  web:', /line 2: processes.web must be a command.*found nothing/],
    [
      'healthcheck: {path: /a}\nhealthcheck: {path: /b}',
      /tancho.yaml line 2: this is not YAML: Map keys must be unique/,
    ],
    ['- '.repeat(5_000), /tancho.yaml line 1: the file is nested too deeply/],
    ['#'.repeat(40_000), /tancho.yaml line 1: the file is longer than 32768 bytes/],
  ])('names file, line, key and expectation: %j', (text, message) => {
    expect(() => parse(text)).toThrow(message);
  });

  it('skips keys meant for others in files with a foreign name, and says so', () => {
    const notes: string[] = [];
    expect(parse('runtime: go\nhealthcheck: {path: /x, scheme: http}', 'app.yaml', notes).healthCheck).toEqual({
      path: '/x',
    });
    expect(notes).toEqual([
      'app.yaml: the key "runtime" means nothing here and was skipped.',
      'app.yaml: the key "healthcheck.scheme" means nothing here and was skipped.',
    ]);
  });
});
