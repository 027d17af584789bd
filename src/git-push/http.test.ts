import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ANN, ANN_TOKEN, BOB } from '../../test/support/git-people.ts';
import { createGitWorld, type GitWorld } from '../../test/support/git-world.ts';
import { missingPrograms } from '../../test/support/programs.ts';
import { skipFor } from '../../test/support/skips.ts';
import { PlatformError } from '../domain/errors.ts';

interface GitAnswer {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
}

describe('the http door', skipFor(missingPrograms()), () => {
  let world: GitWorld;
  beforeAll(async () => {
    world = await createGitWorld({ maxPushBytes: 1024 * 1024 });
    const work = await world.work();
    await world.git(work, ['push', world.httpUrl('shop'), 'main']);
  });
  afterAll(() => world.dispose());

  const basic = (user: string, secret: string): string =>
    `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}`;
  const AUTH = { authorization: basic(ANN, ANN_TOKEN) };

  function ask(path: string, headers: NodeJS.Dict<string> = AUTH, method = 'GET', body?: Buffer): Promise<GitAnswer> {
    return new Promise((resolve, reject) => {
      const outgoing = request({ host: '127.0.0.1', port: world.http.port, path, headers, method }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks).toString(),
          }),
        );
      });
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }
  const REFS = '/git/shop.git/info/refs?service=git-upload-pack';

  it('leaves alone what is not git', async () => {
    expect((await ask('/apps')).status).toBe(418);
    expect((await ask('/gitt/shop.git/info/refs')).status).toBe(418);
  });

  it('asks for credentials, and takes tokens and passwords in every usual form', async () => {
    for (const headers of [{}, { authorization: 'Basic !!!' }, { authorization: basic(ANN, '') }]) {
      const { status, headers: answer } = await ask(REFS, headers);
      expect(status).toBe(401);
      expect(answer['www-authenticate']).toContain('Basic realm=');
      expect(answer['content-type']).toContain('text/plain');
    }
    expect((await ask(REFS, { authorization: basic(ANN, 'wrong') })).status).toBe(401);
    expect((await ask(REFS, { authorization: 'bearer wrong' })).status).toBe(401);
    const good = [
      basic(ANN, ANN_TOKEN),
      basic(ANN, `password-of-${ANN}`),
      basic('git', ANN_TOKEN),
      `Bearer ${ANN_TOKEN}`,
    ];
    for (const authorization of [...good, `bearer ${ANN_TOKEN}`]) {
      expect((await ask(REFS, { authorization })).status, authorization).toBe(200);
    }
  });

  it('lets the code of apps try no passwords; who has a token is who the token says', async () => {
    const from = { 'x-from-app': 'shop' };
    for (const secret of [`password-of-${ANN}`, 'wrong'])
      expect((await ask(REFS, { ...from, authorization: basic(ANN, secret) })).status, secret).toBe(403);
    expect((await ask(REFS, { ...from, authorization: basic(BOB, ANN_TOKEN) })).status).toBe(403);
    for (const authorization of [basic(ANN, ANN_TOKEN), basic(ANN.toUpperCase(), ANN_TOKEN), basic('git', ANN_TOKEN)])
      expect((await ask(REFS, { ...from, authorization })).status, authorization).toBe(200);
  });

  it('answers as git expects, and is never cached', async () => {
    const { headers, body } = await ask(REFS);
    expect(headers['content-type']).toBe('application/x-git-upload-pack-advertisement');
    expect(headers['cache-control']).toContain('no-cache');
    expect(body.startsWith('001e# service=git-upload-pack\n0000')).toBe(true);
    const second = await ask(REFS, { ...AUTH, 'git-protocol': 'version=2' });
    expect(second.body.startsWith('000eversion 2\n')).toBe(true);
  });

  it('understands a gzipped body', async () => {
    const command = Buffer.from('0014command=ls-refs\n00010000');
    const headers = {
      ...AUTH,
      'git-protocol': 'version=2',
      'content-type': 'application/x-git-upload-pack-request',
      'content-encoding': 'gzip',
    };
    const { status, body } = await ask('/git/shop.git/git-upload-pack', headers, 'POST', gzipSync(command));
    expect(status).toBe(200);
    expect(body).toContain('refs/heads/main');
    const broken = ask('/git/shop.git/git-upload-pack', headers, 'POST', Buffer.from('not gzip'));
    expect((await broken.catch(() => null))?.body ?? '').not.toContain('refs/heads/main');
  });

  it('lets a client wait for permission to send', async () => {
    const headers = { ...AUTH, 'content-type': 'application/x-git-receive-pack-request', expect: '100-continue' };
    const path = '/git/shop.git/git-receive-pack';
    const outgoing = request({ host: '127.0.0.1', port: world.http.port, path, headers, method: 'POST' });
    outgoing.flushHeaders();
    await once(outgoing, 'continue');
    outgoing.end('0000');
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(200);
    await once(response, 'end');
  });

  it('records who was refused a push, and wrong logins, but not that git asks without one first', async () => {
    const push = '/git/shop.git/info/refs?service=git-receive-pack';
    world.refused.length = 0;
    await ask(push);
    await ask('/git/shop.git/info/refs?service=git-upload-pack', { authorization: basic(BOB, `password-of-${BOB}`) });
    expect(world.refused).toEqual([]);
    await ask(push, { authorization: basic(BOB, `password-of-${BOB}`) });
    await ask(push, { authorization: basic(BOB, 'wrong') });
    expect(world.refused).toMatchObject([
      { caller: { email: BOB }, action: 'app.push', target: 'app:shop' },
      { caller: { kind: 'anonymous' }, action: 'user.login' },
    ]);
  });

  it.each(['objects/batch', 'locks/verify'])('says to git-lfs what to do in its place: %s', async (path) => {
    const { status, headers, body } = await ask(`/git/shop.git/info/lfs/${path}`, {}, 'POST', Buffer.from('{}'));
    expect([status, headers['content-type']]).toEqual([501, 'application/vnd.git-lfs+json']);
    expect(JSON.parse(body)).toEqual({ message: expect.stringContaining('git push --no-verify') as string });
  });

  it('answers 403 without access, 404 for an unknown app or a name that is none', async () => {
    const bob = { authorization: basic(BOB, `password-of-${BOB}`) };
    const denied = await ask(REFS, bob);
    expect(denied.status).toBe(403);
    expect(denied.body).toContain('user does not have access to this app');
    const unknown = await ask('/git/nope.git/info/refs?service=git-receive-pack');
    expect(unknown.status).toBe(404);
    expect(unknown.body).toBe('App "nope" not found. Create it: tancho app create nope\n');
    for (const name of ['-x', 'x%3Bid', '%2e%2e', 'x%00', 'x'.repeat(200), '..%2fx', '.platform']) {
      const { status } = await ask(`/git/${name}.git/info/refs?service=git-upload-pack`);
      expect(status, name).toBe(404);
    }
  });

  it('answers 507 to a push for which there is too little disk, as the API does', async () => {
    world.demandDisk = async () => {
      throw new PlatformError('disk.low', 'There is too little disk.');
    };
    const { status } = await ask('/git/shop.git/info/refs?service=git-receive-pack');
    world.demandDisk = async () => {};
    expect(status).toBe(507);
  });

  it('keeps everything but the smart protocol closed', async () => {
    for (const path of [
      'HEAD',
      'config',
      'objects/info/packs',
      'info/refs',
      'info/refs?service=git-upload-archive',
      '../x',
      '',
    ]) {
      expect((await ask(`/git/shop.git/${path}`)).status, path).toBe(403);
    }
    expect((await ask('/git/shop.git/git-receive-pack')).status).toBe(403);
    const form = { ...AUTH, 'content-type': 'application/x-www-form-urlencoded' };
    expect((await ask('/git/shop.git/git-receive-pack', form, 'POST', Buffer.from('x'))).status).toBe(400);
  });

  it('shows the reason of a refusal to the users of git', async () => {
    const work = await world.work();
    const unknown = await world.git(work, ['push', world.httpUrl('nope'), 'main']);
    expect(unknown.stderr).toContain('remote: App "nope" not found. Create it: tancho app create nope');
    const wrong = await world.git(work, ['push', world.httpUrl('shop', ANN, 'wrong'), 'main']);
    expect(wrong.stderr).toContain('Authentication failed');
  });

  it('refuses a pack that is too large, and says so', async () => {
    const work = await world.work();
    await world.commit(work, { noise: Buffer.from(Array.from({ length: 3_000_000 }, () => Math.random() * 256)) });
    const { code, stderr } = await world.git(work, ['push', '-f', world.httpUrl('shop'), 'main']);
    expect(code).not.toBe(0);
    expect(stderr).toContain('pack exceeds maximum allowed size');
  });
});
