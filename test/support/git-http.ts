/** A bare repository behind the smart HTTP protocol, asking for one user's password: just enough to receive a real push. */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';

export interface GitHttp {
  readonly url: string;
  readonly repository: string;
  readonly authorizations: Set<string>;
  close(): Promise<void>;
}

export async function startGitHttp(folder: string, name: string, credentials: string): Promise<GitHttp> {
  const repository = join(folder, `${name}.git`);
  execFileSync('git', ['init', '--quiet', '--bare', '-b', 'main', repository]);
  const authorizations = new Set<string>();
  const expected = `Basic ${Buffer.from(credentials).toString('base64')}`;
  const server: Server = createServer((request, response) => {
    const { authorization = '' } = request.headers;
    authorizations.add(authorization);
    if (authorization !== expected) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="test"' }).end();
      return;
    }
    const service = 'git-receive-pack';
    const isAdvertisement = request.url === `/git/${name}.git/info/refs?service=${service}`;
    if (!isAdvertisement && request.url !== `/git/${name}.git/${service}`) {
      response.writeHead(404).end();
      return;
    }
    const kind = isAdvertisement ? 'advertisement' : 'result';
    response.writeHead(200, { 'content-type': `application/x-${service}-${kind}` });
    const flags = isAdvertisement ? ['--advertise-refs'] : [];
    if (isAdvertisement) response.write(`001f# service=${service}\n0000`);
    const git = spawn('git', ['receive-pack', '--stateless-rpc', ...flags, repository]);
    request.pipe(git.stdin);
    git.stdout.pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    repository,
    authorizations,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Whoever asks may fetch each bare repository of a folder, as `<url>/<name>`. */
export async function serveRepositories(folder: string): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const [, name = '', isRefs] =
      /^\/([\w-]+\.git)\/(?:(info\/refs\?service=)?git-upload-pack)$/.exec(request.url ?? '') ?? [];
    if (name === '' || !existsSync(join(folder, name))) return void response.writeHead(404).end();
    response.writeHead(200, {
      'content-type': `application/x-git-upload-pack-${isRefs === undefined ? 'result' : 'advertisement'}`,
    });
    if (isRefs !== undefined) response.write('001e# service=git-upload-pack\n0000');
    const flags = isRefs === undefined ? [] : ['--http-backend-info-refs'];
    const git = spawn('git', ['upload-pack', '--stateless-rpc', ...flags, join(folder, name)], {
      env: { ...process.env, GIT_PROTOCOL: String(request.headers['git-protocol'] ?? '') },
    });
    const isPacked = request.headers['content-encoding'] === 'gzip';
    (isPacked ? request.pipe(createGunzip()) : request).pipe(git.stdin);
    git.stdout.pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
