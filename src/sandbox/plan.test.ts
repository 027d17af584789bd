import { describe, expect, it } from 'vitest';
import { inNetwork, planBubblewrap, planPlain, planUser } from './plan.ts';
import type { SandboxRequest } from './sandbox.ts';

const programs = {
  bwrap: '/usr/bin/bwrap',
  setpriv: '/usr/bin/setpriv',
  prlimit: '/usr/bin/prlimit',
  env: '/usr/bin/env',
  nsenter: '/usr/bin/nsenter',
};
const fds = { info: 3, status: 4, block: 5, users: 6, filter: 7, accounts: { passwd: 8, group: 9 } };
const system = {
  directories: ['/usr', '/etc/ssl'],
  links: [{ path: '/bin', target: 'usr/bin' }],
  masked: [
    { path: '/proc/acpi', isDirectory: true },
    { path: '/proc/keys', isDirectory: false },
  ],
};

function request(changes: Partial<SandboxRequest> = {}): SandboxRequest {
  return {
    argv: ['/bin/sh', '-c', 'node app.js'],
    cwd: '/home/tancho/slugs/a/code',
    env: { PATH: '/bin', GREETING: 'hi' },
    tenant: 'shop',
    binds: [
      { path: '/home/tancho/units/u1', writable: true },
      { path: '/home/tancho/slugs/a/code', writable: true },
      { path: '/opt/node', writable: false },
    ],
    limits: { memoryBytes: 0, cpuMillis: 0, processes: 0 },
    stdio: 'ignore',
    dieWithParent: false,
    id: 'u1',
    ...changes,
  };
}

const asTenant =
  '/usr/bin/prlimit --core=0 --nproc=4096 -- /usr/bin/setpriv --reuid=70001 --regid=70001 --clear-groups --no-new-privs ' +
  '--inh-caps=-all --ambient-caps=-all --bounding-set=-all';

describe('bubblewrap', () => {
  it('shows the system read-only and the binds where they are, and ends as the tenant without capabilities', () => {
    const plan = planBubblewrap(request(), { programs, system, uid: 70_001, user: null, fds });
    expect([plan.file, ...plan.args].join(' ')).toBe(
      '/usr/bin/bwrap --unshare-pid --unshare-ipc --unshare-uts --new-session --proc /proc --dev /dev ' +
        '--tmpfs /proc/acpi --remount-ro /proc/acpi --ro-bind /dev/null /proc/keys ' +
        '--perms 1777 --size 536870912 --tmpfs /tmp --perms 1777 --size 536870912 --tmpfs /dev/shm ' +
        '--perms 0755 --tmpfs /etc --perms 0755 --dir /etc --ro-bind /etc/ssl /etc/ssl --ro-bind /usr /usr --symlink usr/bin /bin ' +
        '--perms 0644 --file 8 /etc/passwd --perms 0644 --file 9 /etc/group --remount-ro /etc ' +
        '--perms 0755 --dir /home --perms 0755 --dir /home/tancho --perms 0755 --dir /home/tancho/slugs ' +
        '--perms 0755 --dir /home/tancho/slugs/a --bind /home/tancho/slugs/a/code /home/tancho/slugs/a/code ' +
        '--perms 0755 --dir /home/tancho/units --bind /home/tancho/units/u1 /home/tancho/units/u1 ' +
        '--perms 0755 --dir /opt --ro-bind /opt/node /opt/node ' +
        '--cap-drop ALL --cap-add CAP_SETUID --cap-add CAP_SETGID --cap-add CAP_SETPCAP --cap-add CAP_DAC_READ_SEARCH ' +
        '--chdir /home/tancho/slugs/a/code --info-fd 3 --json-status-fd 4 --block-fd 5 --seccomp 7 -- ' +
        `${asTenant} -- /bin/sh -c node app.js`,
    );
    expect(plan.env).toEqual({ PATH: '/bin', GREETING: 'hi', TANCHO_SANDBOX: 'u1' });
  });

  it('lets tenants through to what it shows of the system below directories that it makes, also in /tmp', () => {
    const shown = { ...system, directories: ['/usr', '/tmp/clone/.runtime/node'] };
    const { args } = planBubblewrap(request(), { programs, system: shown, uid: 70_001, user: null, fds });
    expect(args.join(' ')).toContain(
      '--perms 0755 --dir /tmp --perms 0755 --dir /tmp/clone --perms 0755 --dir /tmp/clone/.runtime ' +
        '--ro-bind /tmp/clone/.runtime/node /tmp/clone/.runtime/node',
    );
    expect(args.lastIndexOf('--tmpfs')).toBeLessThan(args.indexOf('/usr'));
  });

  it('dies with its parent only when asked to', () => {
    const facts = { programs, system, uid: 70_001, user: null, fds };
    expect(planBubblewrap(request(), facts).args).not.toContain('--die-with-parent');
    expect(planBubblewrap(request({ dieWithParent: true }), facts).args).toContain('--die-with-parent');
  });

  it('needs no privileges for an ordinary user', () => {
    const { args } = planBubblewrap(request(), { programs, system, uid: null, user: null, fds });
    expect(args).not.toContain('--cap-add');
    const inner = '/usr/bin/prlimit --core=0 --nproc=4096 -- /bin/sh -c node app.js';
    expect(args.slice(args.indexOf('--') + 1).join(' ')).toBe(inner);
  });

  it('is who it is also where it passes through a user namespace in which it would be root, and has no capability of that', () => {
    const user = { uid: 1000, gid: 1001 };
    const plan = planBubblewrap(request(), { programs, system, uid: null, user, fds });
    expect(plan.args.join(' ')).toContain(' --unshare-user --uid 1000 --gid 1001 --cap-drop ALL ');
    const place = { path: '/proc/7/root/run/netns/n', userNamespace: '/proc/7/ns/user' };
    const { file, args } = inNetwork(plan, place, programs);
    expect([file, ...args].join(' ')).toMatch(
      /^\/usr\/bin\/nsenter --preserve-credentials --user=\/proc\/7\/ns\/user --net=\/proc\/7\/root\/run\/netns\/n -- \/usr\/bin\/bwrap /,
    );
    const root = { directory: '/image', uid: 5, gid: 6 };
    const image = planBubblewrap(request({ root }), { programs, system, uid: null, user, entries: [], fds });
    expect(image.args.join(' ')).toContain(' --unshare-user --uid 5 --gid 6 --cap-drop ALL ');
  });

  it('keeps variables that load code away from itself, which is outside of the sandbox, not from the app', () => {
    const env = { LD_PRELOAD: '/app/evil.so', DATABASE_URL: 'secret' };
    const plan = planBubblewrap(request({ env }), { programs, system, uid: null, user: null, fds });
    expect(plan.env).toEqual({ DATABASE_URL: 'secret', TANCHO_SANDBOX: 'u1' });
    expect(plan.args.join(' ')).toContain(' --setenv LD_PRELOAD /app/evil.so --info-fd ');
    const privileged = planBubblewrap(request({ env }), { programs, system, uid: 70_001, user: null, fds });
    expect(privileged.env).toEqual(plan.env);
    expect(privileged.args.join(' ')).toContain(' -- /usr/bin/env LD_PRELOAD=/app/evil.so /bin/sh');
  });

  it('gives up privileges before it enters a root of its own', () => {
    const root = { directory: '/home/tancho/slugs/a/code', uid: 33, gid: 34 };
    const binds = [
      { path: '/home/tancho/units/u1/tmp', writable: true, at: '/tmp' },
      { path: '/etc/hosts', writable: false, at: '/.tancho/hosts' },
    ];
    const entries = [
      { name: 'bin', target: 'usr/bin' },
      { name: 'proc', target: '/elsewhere' },
      { name: 'tmp', target: null },
      { name: 'usr', target: null },
    ];
    const changes = { root, binds, cwd: '/srv', argv: ['/app'], env: { A: 'b', LD_PRELOAD: 'x.so' } };
    const plan = planBubblewrap(request(changes), { programs, system, uid: 70_001, user: null, entries, fds });
    const inner = (place: (path: string, short: string) => string): string =>
      '--unshare-pid --unshare-ipc --unshare-uts --new-session --unshare-user --uid 33 --gid 34 --symlink usr/bin /bin ' +
      `--bind ${place('/home/tancho/slugs/a/code', 'root')}/usr /usr --proc /proc --dev /dev ` +
      '--tmpfs /proc/acpi --remount-ro /proc/acpi --ro-bind /dev/null /proc/keys ' +
      '--perms 1777 --size 536870912 --tmpfs /dev/shm --perms 0755 --dir /.tancho ' +
      `--ro-bind ${place('/etc/hosts', '1')} /.tancho/hosts --bind ${place('/home/tancho/units/u1/tmp', '0')} /tmp ` +
      '--remount-ro / --chdir /srv --setenv LD_PRELOAD x.so --info-fd 3 --json-status-fd 4 --block-fd 5 --seccomp 7 -- /app';
    expect([plan.file, ...plan.args].join(' ')).toBe(
      '/usr/bin/bwrap --perms 0755 --tmpfs /etc --perms 0755 --dir /etc --ro-bind /etc/ssl /etc/ssl --ro-bind /usr /usr ' +
        '--symlink usr/bin /bin --remount-ro /etc --bind /proc /proc --dev-bind /dev /dev ' +
        '--perms 0755 --dir /tmp --perms 0755 --dir /.sandbox --bind /home/tancho/units/u1/tmp /.sandbox/0 ' +
        '--ro-bind /etc/hosts /.sandbox/1 --bind /home/tancho/slugs/a/code /.sandbox/root ' +
        '--cap-drop ALL --cap-add CAP_SETUID --cap-add CAP_SETGID --cap-add CAP_SETPCAP --cap-add CAP_DAC_READ_SEARCH ' +
        `--chdir / -- ${asTenant} -- /usr/bin/bwrap ${inner((_, short) => `/.sandbox/${short}`)}`,
    );
    expect(plan.env).toEqual({ A: 'b', TANCHO_SANDBOX: 'u1' });
    const own = planBubblewrap(request(changes), { programs, system, uid: null, user: null, entries, fds });
    expect([own.file, ...own.args].join(' ')).toBe(`/usr/bin/bwrap ${inner((path) => path)}`);
  });

  it('shows a root that is shared read-only, and in place of the home of the platform only what is put there', () => {
    const root = { directory: '/var/tancho/bases/5/root', uid: 33, gid: 34, isShared: true };
    const binds = [
      { path: '/var/tancho/slugs/a/code', writable: true },
      { path: '/var/tancho', writable: false, isEmpty: true },
      { path: '/var/tancho/units/u1/tmp', writable: true, at: '/var/tmp', within: true },
    ];
    const entries = [{ name: 'var', target: null }];
    const changes = { root, binds, cwd: '/var/tancho/slugs/a/code', argv: ['/app'] };
    const text = planBubblewrap(request(changes), {
      programs,
      system,
      uid: 70_001,
      user: null,
      entries,
      fds,
    }).args.join(' ');
    expect(text).toContain('--ro-bind /var/tancho/bases/5/root /.sandbox/root');
    expect(text).not.toContain('/.sandbox/1 ');
    expect(text).toContain('--ro-bind /.sandbox/root/var /var');
    const order = ['--tmpfs /var/tancho ', '--bind /.sandbox/0 /var/tancho/slugs/a/code', '--remount-ro /var/tancho '];
    const places = order.map((part) => text.indexOf(part));
    expect(places.every((at) => at > 0)).toBe(true);
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(text).toContain('--bind /.sandbox/2 /var/tmp');
  });
});

describe('user', () => {
  it('becomes the tenant', () => {
    const plan = planUser(request(), programs, 70_001);
    expect([plan.file, ...plan.args].join(' ')).toBe(`${asTenant} -- /bin/sh -c node app.js`);
  });

  it('hands on every variable, whatever its name', () => {
    const env = Object.fromEntries([
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ]);
    expect(Object.entries(planUser(request({ env }), programs, 70_001).env)).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
      ['TANCHO_SANDBOX', 'u1'],
    ]);
  });

  it('keeps variables that load code away from the privileged programs, not from the app', () => {
    const env = { LD_PRELOAD: '/app/evil.so', GLIBC_TUNABLES: 'x=y', DATABASE_URL: 'secret' };
    const plan = planUser(request({ env }), programs, 70_001);
    expect(plan.env).toEqual({ DATABASE_URL: 'secret', TANCHO_SANDBOX: 'u1' });
    expect(plan.args.slice(-6)).toEqual([
      '/usr/bin/env',
      'LD_PRELOAD=/app/evil.so',
      'GLIBC_TUNABLES=x=y',
      '/bin/sh',
      '-c',
      'node app.js',
    ]);
  });
});

describe('plain', () => {
  it('runs the argv as it is', () => {
    expect(planPlain(request(), programs)).toEqual({
      file: '/bin/sh',
      args: ['-c', 'node app.js'],
      env: { PATH: '/bin', GREETING: 'hi', TANCHO_SANDBOX: 'u1' },
    });
  });

  it('is tied to the life of its parent when asked to', () => {
    const plan = planPlain(request({ dieWithParent: true }), programs);
    expect([plan.file, ...plan.args].join(' ')).toBe('/usr/bin/setpriv --pdeathsig KILL -- /bin/sh -c node app.js');
  });
});
