import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import ssh2 from 'ssh2';
import { readFile } from 'node:fs/promises';
import { ANN, BOB } from '../../test/support/git-people.ts';
import { createGitWorld, type GitWorld } from '../../test/support/git-world.ts';
import { missingPrograms, sshOptions } from '../../test/support/programs.ts';
import { skipFor } from '../../test/support/skips.ts';
import { PlatformError } from '../domain/errors.ts';
import { itLong } from '../../test/support/long-cases.ts';
import { SLOW } from '../../test/support/slow.ts';

const missing = missingPrograms();
const LONG_MS = 120_000;

type Signed = (error: Error | null | undefined, signature?: Buffer) => void;

describe('the ssh door', skipFor(missing), () => {
  let world: GitWorld;
  let ann: string;
  beforeAll(async () => {
    world = await createGitWorld();
    ann = world.key('ed25519', ANN);
  });
  afterAll(() => world.dispose());

  const ssh = (key: string, args: readonly string[], user = 'git') => {
    const options = ['-F', '/dev/null', ...sshOptions(key), '-p', String(world.ssh.port)];
    return world.start('ssh', [...options, `${user}@127.0.0.1`, ...args]).done;
  };

  it('knows ed25519, rsa and ecdsa keys', async () => {
    for (const type of SLOW ? (['ed25519', 'rsa', 'ecdsa'] as const) : (['ecdsa'] as const)) {
      const work = await world.work({ type });
      const { code, stderr } = await world.git(
        work,
        ['push', '-f', world.sshUrl('shop'), 'main'],
        world.key(type, ANN),
      );
      expect(stderr, type).toContain('main -> main');
      expect(code, type).toBe(0);
    }
  });

  it(
    'has room for others, however many connections one address has',
    skipFor(process.platform !== 'linux' && 'other systems have no more loopback addresses'),
    async () => {
      const sockets = Array.from({ length: 140 }, () => connect(world.ssh.port, '127.0.0.1').on('error', () => {}));
      let refused = 0;
      for (const socket of sockets) socket.resume().once('close', () => (refused += 1));
      // The oldest have made room for the others.
      await expect.poll(() => refused).toBe(12);
      const greets = async (localAddress: string): Promise<boolean> => {
        const socket = connect({ port: world.ssh.port, host: '127.0.0.1', localAddress });
        const said = once(socket, 'data').then(([greeting]) => String(greeting).includes('SSH-2.0-tancho'));
        const answer = await Promise.race([said, once(socket, 'close').then(() => false)]).catch(() => false);
        socket.destroy();
        return answer;
      };
      expect(await greets('127.0.0.2')).toBe(true);
      expect(await greets('127.0.0.1')).toBe(true);
      await expect.poll(() => refused).toBe(13);
      for (const socket of sockets) socket.destroy();
    },
  );

  it('denies an unknown key and logs its fingerprint', async () => {
    const { code, stderr } = await ssh(world.key('ed25519'), [`git-upload-pack 'shop.git'`]);
    expect(code).toBe(255);
    expect(stderr).toContain('Permission denied (publickey)');
    const entry = world.logs.find(({ level, message }) => level === 'info' && message === 'unknown ssh key');
    expect(entry?.fields).toMatchObject({ fingerprint: expect.stringMatching(/^SHA256:.{43}$/), address: '127.0.0.1' });
  });

  it('has it recorded when somebody gets no further, once for each connection, and not which keys come before the right one', async () => {
    const [one, other] = [world.key('ed25519'), world.key('ecdsa')];
    world.refused.length = 0;
    expect((await ssh(one, ['-i', ann])).stderr).toContain('Hi ann@example.com!');
    expect((await ssh(one, ['-i', other])).code).toBe(255);
    await expect.poll(() => world.refused).toHaveLength(1);
    expect(world.refused[0]).toMatchObject({
      caller: { kind: 'anonymous', address: '127.0.0.1' },
      action: 'user.login',
      detail: expect.stringMatching(/^git over SSH, the key SHA256:.{43}$/),
    });
    expect(world.refused).toHaveLength(1);
  });

  it('says to the owner of a good key that it cannot be looked up, and does nothing else', async () => {
    world.onLookup = () => Promise.reject(new PlatformError('unavailable', 'db.internal is away'));
    const work = await world.work({ lookup: 'x' });
    const pushed = await world.git(work, ['push', '-f', world.sshUrl('shop'), 'main'], ann);
    expect(pushed.code).not.toBe(0);
    expect(pushed.stderr).toContain('cannot look up your key at the moment');
    expect(pushed.stderr).not.toMatch(/Permission denied|db\.internal/);
    expect((await ssh(ann, [])).stderr).toContain('cannot look up your key at the moment');
    world.onLookup = async () => {};
    expect((await world.git(work, ['push', '-f', world.sshUrl('shop'), 'main'], ann)).code).toBe(0);
  });

  it('denies passwords, and a known key whose signature is not its own', async () => {
    world.refused.length = 0;
    const attempt = (config: ssh2.ConnectConfig): Promise<string> =>
      new Promise((resolve) => {
        const client = new ssh2.Client();
        client.on('ready', () => resolve('let in')).on('error', (error) => resolve(error.message));
        client.on('close', () => client.end());
        client.connect({ host: '127.0.0.1', port: world.ssh.port, username: 'git', ...config });
      });
    expect(await attempt({ password: `password-of-${ANN}` })).toContain('authentication methods failed');

    const own = ssh2.utils.parseKey(await readFile(world.key('ed25519')));
    const known = ssh2.utils.parseKey(await readFile(`${ann}.pub`));
    if (own instanceof Error || known instanceof Error) throw new Error('keys cannot be read');
    class Thief extends ssh2.BaseAgent {
      getIdentities(done: (error: Error | null | undefined, keys?: ssh2.ParsedKey[]) => void): void {
        done(null, [known as ssh2.ParsedKey]);
      }
      sign(_key: unknown, data: Buffer, options: ssh2.SigningRequestOptions, done?: Signed): void;
      sign(_key: unknown, data: Buffer, done: Signed): void;
      sign(_key: unknown, data: Buffer, options: ssh2.SigningRequestOptions | Signed, done?: Signed): void {
        const answer = typeof options === 'function' ? options : done;
        answer?.(null, (own as ssh2.ParsedKey).sign(data));
      }
    }
    expect(await attempt({ agent: new Thief() })).toContain('authentication methods failed');
    expect(world.logs.some(({ message }) => message === 'ssh key with a wrong signature')).toBe(true);
    await expect.poll(() => world.refused).toHaveLength(2);
    expect(world.refused.map(({ detail }) => detail)).toEqual([
      'git over SSH, by password',
      expect.stringContaining('the key SHA256:'),
    ]);
  });

  it('greets people, under any user name, and does nothing else for them', async () => {
    const hello = 'Hi ann@example.com! You are known here; this server only speaks git.';
    for (const args of [[], ['-tt'], ['ls', '/'], ['git-upload-archive', 'shop']]) {
      const { code, stderr, stdout } = await ssh(ann, args, 'somebody');
      expect(stderr + stdout, args.join(' ')).toContain(hello);
      expect(code).toBe(1);
    }
    for (const program of ['git-lfs-transfer', 'git-lfs-authenticate']) {
      const lfs = await ssh(ann, [program, 'shop.git', 'upload']);
      expect([lfs.code, lfs.stdout]).toEqual([1, '']);
      expect(lfs.stderr).toContain('git push --no-verify');
    }
    const sftp = await ssh(ann, ['-s', 'sftp']);
    expect(sftp.code).not.toBe(0);
    const forward = await ssh(ann, ['-W', '127.0.0.1:1']);
    expect(forward.stderr).toContain('forwarding failed');
  });

  it('says what to do about an unknown app, one without access, and a name that is none', async () => {
    const work = await world.work();
    const unknown = await world.git(work, ['push', world.sshUrl('nope'), 'main'], ann);
    expect(unknown.stderr).toContain('App "nope" not found. Create it: tancho app create nope');
    expect(unknown.code).not.toBe(0);
    const bob = await world.git(work, ['push', world.sshUrl('shop'), 'main'], world.key('ed25519', BOB));
    expect(world.refused.at(-1)).toMatchObject({ caller: { email: BOB }, action: 'app.push', target: 'app:shop' });
    expect(bob.stderr).toContain('user does not have access to this app');
    const clone = await world.git(work, ['ls-remote', world.sshUrl('shop')], world.key('ed25519', BOB));
    expect(clone.stderr).toContain('user does not have access to this app');
    for (const name of ['../x', '-x', 'x;id', 'x'.repeat(300), 'a/b']) {
      const { code, stdout } = await ssh(ann, [`git-receive-pack '${name}.git'`]);
      expect(stdout, name).toContain('does not name an app');
      expect(code).toBe(1);
    }
  });

  it('asks anew for every command who its user is, for a connection may outlive a key', async () => {
    const key = world.key('ed25519', BOB);
    const client = new ssh2.Client();
    const ready = once(client, 'ready');
    client.connect({ host: '127.0.0.1', port: world.ssh.port, username: 'git', privateKey: await readFile(key) });
    await ready;
    const run = (command: string): Promise<string> =>
      new Promise((resolve, reject) => {
        client.exec(command, (error, channel) => {
          if (error !== undefined) return reject(error);
          let text = '';
          const take = (bytes: Buffer): void => void (text += bytes.toString());
          channel.on('data', take).on('close', () => resolve(text));
          channel.stderr.on('data', take);
        });
      });
    expect(await run(`git-upload-pack 'shop.git'`)).toContain('does not have access');
    world.forgetKeys(BOB);
    expect(await run(`git-upload-pack 'shop.git'`)).toContain('no longer known');
    const closed = once(client, 'close');
    client.end();
    await closed;
  });

  it('speaks version 2 of the protocol', async () => {
    const options = ['-F', '/dev/null', ...sshOptions(ann), '-o', 'SetEnv=GIT_PROTOCOL=version=2'];
    const target = ['-p', String(world.ssh.port), 'git@127.0.0.1', `git-upload-pack 'shop.git'`];
    const { stdout } = await world.start('ssh', [...options, ...target]).done;
    expect(stdout).toContain('version 2');
  });

  it('cancels what is running, and waits for it, when it is closed', async () => {
    const other = await createGitWorld();
    const key = other.key('ed25519', ANN);
    const work = await other.work();
    let cancelled = false;
    other.onDeploy = async ({ say, signal }) => {
      say('building');
      await once(signal, 'abort');
      cancelled = true;
      signal.throwIfAborted();
    };
    const push = other.start('git', ['push', other.sshUrl('shop'), 'main'], { cwd: work, key });
    await push.shows('remote: building');
    await other.dispose();
    expect(cancelled).toBe(true);
    expect((await push.done).code).not.toBe(0);
  });
});

describe('an ssh door of a server that is starting', skipFor(missing), () => {
  const pushTo = async (opening: Promise<void>, startPatienceMs: number) => {
    const starting = await createGitWorld({ start: { opened: opening, startPatienceMs } });
    const key = starting.key('ed25519', ANN);
    const work = await starting.work();
    return { starting, push: starting.start('git', ['push', starting.sshUrl('shop'), 'main'], { cwd: work, key }) };
  };

  it('lets people log in, and serves what they ask for once the start is over', async () => {
    const opening = Promise.withResolvers<void>();
    const { starting, push } = await pushTo(opening.promise, LONG_MS);
    const asked = Promise.withResolvers<void>();
    starting.onLookup = async () => asked.resolve();
    await asked.promise;
    opening.resolve();
    expect((await push.done).stderr).toContain('main -> main');
    await starting.dispose();
  });

  itLong('says so to a command that has waited in vain, for the start goes on or has failed', async () => {
    const failing = Promise.withResolvers<void>();
    failing.promise.catch(() => undefined);
    failing.reject(new Error('the disk is full'));
    for (const [opening, patienceMs] of [
      [new Promise<void>(() => {}), 20],
      [failing.promise, LONG_MS],
    ] as const) {
      const { starting, push } = await pushTo(opening, patienceMs);
      const { code, stderr } = await push.done;
      expect(code).not.toBe(0);
      expect(stderr).toContain('remote error: The server is starting. Try again in a moment.');
      expect(stderr).not.toContain('disk');
      await starting.dispose();
    }
  });
});

describe('connections of one user', skipFor(missing), () => {
  it('say to who has too many connections that they are; other users go on', async () => {
    const crowded = await createGitWorld({ mostConnectionsOfUser: 1 });
    const key = await readFile(crowded.key('ed25519', ANN));
    const login = async (privateKey: Buffer): Promise<ssh2.Client> => {
      const client = new ssh2.Client();
      client.connect({ host: '127.0.0.1', port: crowded.ssh.port, username: 'git', privateKey });
      await once(client, 'ready');
      return client;
    };
    const fetched = (client: ssh2.Client): Promise<string> =>
      new Promise((resolve, reject) => {
        client.exec(`git-upload-pack 'shop.git'`, (error, channel) => {
          if (error !== undefined) return reject(error);
          let text = '';
          channel.on('data', (bytes: Buffer) => (text += bytes.toString())).on('close', () => resolve(text));
          channel.end('0000');
        });
      });
    const left = async (client: ssh2.Client): Promise<void> => {
      const gone = once(client, 'close');
      client.end();
      await gone;
    };
    const [first, second] = [await login(key), await login(key)];
    expect(await fetched(second)).toContain('ERR Too many SSH connections of yours');
    await left(second);
    expect(await fetched(first)).not.toContain('ERR');
    const other = await login(await readFile(crowded.key('ed25519', BOB)));
    expect(await fetched(other)).toContain('does not have access');
    await left(first);
    const again = await login(key);
    expect(await fetched(again)).not.toContain('ERR');
    for (const client of [again, other]) await left(client);
    await crowded.dispose();
  });
});

describe('an ssh door that waits for a moment only', skipFor(missing), () => {
  let hasty: GitWorld;
  beforeAll(async () => {
    hasty = await createGitWorld({ authTimeoutMs: 300 });
  });
  afterAll(() => hasty.dispose());

  it('ends connections on which nobody logs in, whatever they have said', async () => {
    for (const said of ['', 'SSH-2.0-', 'SSH-2.0-nobody\r\n']) {
      const socket = connect(hasty.ssh.port, '127.0.0.1').on('error', () => {});
      socket.write(said);
      socket.resume();
      await once(socket, 'close');
    }
  });

  it('hangs up on those who never show a key', async () => {
    const socket = connect(hasty.ssh.port, '127.0.0.1');
    socket.write('SSH-2.0-silent\r\n');
    socket.on('data', () => {});
    await new Promise<void>((resolve, reject) => {
      socket.once('close', () => resolve());
      setTimeout(() => reject(new Error('still connected')), 60_000).unref();
    });
  });
});
