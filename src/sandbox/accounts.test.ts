/** By which name programs know whom they run as, asked by programs of all kinds. */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { skipFor } from '../../test/support/skips.ts';
import { findProgram } from '../lib/find-program.ts';
import { accountFiles, machineUserName } from './accounts.ts';
import { probeSandbox } from './probe.ts';
import type { Sandbox, SandboxLevel, SandboxRequest } from './sandbox.ts';

describe('accountFiles', () => {
  const app = { name: 'app', uid: 70_001, gid: 70_001, home: '/u/home' };

  it('names the process, root, and nobody; every number and name once', () => {
    expect(accountFiles(app).passwd.split('\n')).toEqual([
      'root:x:0:0::/root:/bin/sh',
      'nobody:x:65534:65534::/nonexistent:/bin/sh',
      'app:x:70001:70001::/u/home:/bin/sh',
      '',
    ]);
    expect(accountFiles(app).group).toBe('root:x:0:\nnogroup:x:65534:\napp:x:70001:\ntty:x:5:\n');
    expect(accountFiles({ name: 'root', uid: 0, gid: 0, home: '/work' }).passwd).toBe(
      'root:x:0:0::/work:/bin/sh\nnobody:x:65534:65534::/nonexistent:/bin/sh\n',
    );
    expect(accountFiles({ ...app, uid: 65_534, gid: 65_534 }).passwd.match(/:65534:65534:/g)).toHaveLength(1);
  });

  it('has lines of its own only, wherever the home is', () => {
    for (const home of ['/a:b', '/a\nroot2:x:0:0::/:/bin/sh', 'relative', '']) {
      expect(accountFiles({ ...app, home }).passwd).toContain('app:x:70001:70001::/:/bin/sh\n');
    }
  });
});

const PYTHON = `import os, pwd, grp, getpass
me = pwd.getpwuid(os.getuid())
print(me.pw_name, me.pw_dir == os.environ["HOME"], grp.getgrgid(os.getgid()).gr_name, getpass.getuser())`;
const NODE = 'const { username, homedir } = os.userInfo(); console.log(username, homedir === process.env.HOME)';
const SYSTEM_PYTHON = '/usr/bin/python3';

for (const level of ['bubblewrap', 'user', 'plain'] satisfies SandboxLevel[]) {
  const home = mkdtempSync(join(tmpdir(), 'tancho-accounts-'));
  chmodSync(home, 0o711);
  const found = await probeSandbox({
    stateDir: join(home, 'state'),
    home,
    level,
    network: { mode: 'shared', allowed: [] },
  }).catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
  afterAll(async () => {
    if (typeof found !== 'string') await found.close();
    rmSync(home, { recursive: true, force: true });
  });
  describe(`level ${level}`, () => {
    if (typeof found === 'string') it('is there', skipFor(found), () => {});
    else suite(found, home);
  });
}

function suite(sandbox: Sandbox, home: string): void {
  const own = join(home, 'own');
  const ids: string[] = [];
  mkdirSync(own);
  afterEach(async () => {
    for (const id of ids.splice(0)) await sandbox.release(id);
  });
  const name = sandbox.level === 'plain' ? machineUserName() : 'app';

  async function run(argv: readonly string[], changes: Partial<SandboxRequest> = {}): Promise<string> {
    await sandbox.own(own, 'shop');
    const id = `accounts-${process.pid}-${sandbox.level}-${Math.random()}`;
    ids.push(id);
    const { child } = await sandbox.spawn({
      argv,
      cwd: own,
      env: { PATH: '/usr/bin:/bin', HOME: own },
      tenant: 'shop',
      binds: [{ path: own, writable: true }],
      limits: { memoryBytes: 0, cpuMillis: 0, processes: 0 },
      stdio: ['ignore', 'pipe', 'pipe'],
      dieWithParent: true,
      id,
      ...changes,
    });
    let text = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (bytes: Buffer) => (text += bytes.toString()));
    await new Promise((resolve) => child.once('close', resolve));
    return text.trim();
  }

  it('says in variables by which name a process goes, and lets its own variables be', async () => {
    expect(await run(['/bin/sh', '-c', 'echo "$USER $LOGNAME"'])).toBe(`${name} ${name}`);
    const env = { PATH: '/usr/bin:/bin', USER: 'somebody' };
    expect(await run(['/bin/sh', '-c', 'echo "$USER $LOGNAME"'], { env })).toBe(`somebody ${name}`);
  });

  if (sandbox.level !== 'bubblewrap') return;

  it('has an entry that programs of the system find', async () => {
    expect(await run(['/bin/sh', '-c', 'whoami; id -un; id -gn; cd ~app && pwd'])).toBe(`app\napp\napp\n${own}`);
    expect(await run(['/usr/bin/id'])).not.toContain('cannot find');
  });

  it('has an entry that Node finds', async () => {
    expect(await run([process.execPath, '-e', NODE])).toBe('app true');
  });

  it('has an entry that other C libraries find', async ({ skip }) => {
    const busybox = findProgram('busybox');
    if (busybox === null) return skip('there is no busybox (install the package busybox-static)');
    expect(await run([busybox, 'sh', '-c', 'busybox whoami; busybox id -gn'])).toBe('app\napp');
  });

  it('has an entry that Python finds', async ({ skip }) => {
    if (findProgram(SYSTEM_PYTHON) === null) return skip(`there is no ${SYSTEM_PYTHON}`);
    expect(await run([SYSTEM_PYTHON, '-c', PYTHON])).toBe('app True app app');
  });

  it('has an entry that ssh finds', async ({ skip }) => {
    const ssh = findProgram('ssh');
    if (ssh === null) return skip('there is no ssh (install the package openssh-client)');
    expect(await run([ssh, '-F', 'none', '-G', 'example.test'])).toContain('user app\n');
  });

  it('shows nobody whom the machine knows, and cannot be changed', async () => {
    const machine = readFileSync('/etc/passwd', 'utf8').trim().split('\n');
    const seen = (await run(['/bin/cat', '/etc/passwd'])).split('\n');
    expect(seen).toHaveLength(3);
    expect(machine.length).toBeGreaterThan(3);
    expect(await run(['/bin/sh', '-c', 'echo x >> /etc/passwd || mv /etc/passwd /etc/gone'])).toMatch(/read-only/i);
  });

  it('calls the root of users of its own root', async ({ skip }) => {
    if (!sandbox.manyUsers) return skip(sandbox.description);
    const changes = { manyUsers: true, env: { PATH: '/usr/bin:/bin', HOME: '/tmp' } };
    expect(await run(['/bin/sh', '-c', 'whoami; echo $USER; cat /etc/group | wc -l'], changes)).toBe('root\nroot\n3');
  });
}
