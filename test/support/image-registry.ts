/** A registry of images on this machine, over HTTP: with or without a token server, and with the faults that tests want. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { drained } from '../../src/lib/drained.ts';
import { RegistryWrites } from './registry-writes.ts';
import { type TarEntry, tarOf } from './tar-writer.ts';

export interface Blob {
  readonly digest: string;
  readonly size: number;
  readonly mediaType: string;
}

export interface ImageParts {
  readonly layers: readonly (readonly TarEntry[] | Buffer)[];
  /** Below `config` of its configuration. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly architecture?: string;
  readonly isPlain?: boolean;
  /** Docker's names of the kinds instead of those of OCI. */
  readonly isDocker?: boolean;
}

/** What happens to a blob on its way: other bytes, an early end, no end, or a stop half-way until release(). */
export type Fault = 'lie' | 'truncate' | 'endless' | 'halt';

export interface Seen {
  readonly server: 'registry' | 'elsewhere' | 'tokens';
  readonly method: string;
  readonly path: string;
  readonly authorization: string;
}

export interface ImageRegistryOptions {
  /** Only who has it may read; asked by the token server. */
  readonly login?: { readonly user: string; readonly password: string };
  /** Tokens are needed, but given to everybody. */
  readonly hasTokens?: boolean;
  /** As with `login`, without tokens. */
  readonly isBasic?: boolean;
  /** Blobs lie on another server: a second one here, or that of a URL. */
  readonly redirects?: boolean | 'for ever' | URL;
}

export class ImageRegistry {
  readonly seen: Seen[] = [];
  readonly faults = new Map<string, Fault>();
  readonly #options: ImageRegistryOptions;
  readonly #servers: readonly Server[];
  readonly #blobs = new Map<string, Buffer>();
  readonly #manifests = new Map<string, { readonly type: string; readonly body: Buffer }>();
  readonly writes = new RegistryWrites(this.#blobs, this.#manifests);
  /** Nobody gets an answer. */
  isAway = false;
  #claimedDigest = '';
  #release: () => void = () => {};
  #halted: () => void = () => {};
  /** When a blob is on its way and halts. */
  readonly halted = new Promise<void>((resolve) => (this.#halted = resolve));
  readonly #released = new Promise<void>((resolve) => (this.#release = resolve));

  private constructor(options: ImageRegistryOptions) {
    this.#options = options;
    const names = ['registry', 'elsewhere', 'tokens'] as const;
    this.#servers = names.map((server) =>
      createServer((request, response) => {
        const { url = '', method = '', headers } = request;
        this.seen.push({ server, method, path: url, authorization: headers.authorization ?? '' });
        if (this.isAway) request.socket.destroy();
        else void this.#answer(server, request, response);
      }),
    );
  }

  static async start(options: ImageRegistryOptions = {}): Promise<ImageRegistry> {
    const registry = new ImageRegistry(options);
    for (const server of registry.#servers) await once(server.listen(0, '127.0.0.1'), 'listening');
    return registry;
  }

  get host(): string {
    return `127.0.0.1:${this.#port(0)}`;
  }

  /** What is said to be the digest of every manifest. */
  set claimedDigest(digest: string) {
    this.#claimedDigest = digest;
  }

  release(): void {
    this.#release();
  }

  /** The paths that were asked for, in order. */
  paths(): string[] {
    return this.seen.map(({ path }) => path);
  }

  addBlob(body: Buffer | string, mediaType: string): Blob {
    const bytes = Buffer.from(body);
    const digest = digestOf(bytes);
    this.#blobs.set(digest, bytes);
    return { digest, size: bytes.length, mediaType };
  }

  /** The digest of the manifest. */
  addManifest(repository: string, tag: string, document: object): Blob {
    const body = Buffer.from(JSON.stringify(document));
    const digest = digestOf(body);
    const mediaType = (document as { mediaType?: string }).mediaType ?? 'application/vnd.oci.image.manifest.v1+json';
    for (const reference of [digest, tag]) this.#manifests.set(`${repository}:${reference}`, { type: mediaType, body });
    return { digest, size: body.length, mediaType };
  }

  addImage(repository: string, tag: string, parts: ImageParts): Blob & { readonly layers: readonly Blob[] } {
    const { isDocker = false, isPlain = false, architecture = 'amd64' } = parts;
    const tars = parts.layers.map((layer) => (Buffer.isBuffer(layer) ? layer : tarOf(layer as readonly TarEntry[])));
    const layers = tars.map((tar) => {
      const plain = isDocker
        ? 'application/vnd.docker.image.rootfs.diff.tar'
        : 'application/vnd.oci.image.layer.v1.tar';
      const packed = isDocker ? `${plain}.gzip` : `${plain}+gzip`;
      return this.addBlob(isPlain ? tar : gzipSync(tar, { level: 1 }), isPlain ? plain : packed);
    });
    const history = tars.map(() => ({ created: '2026-01-02T03:04:05Z', created_by: 'a test' }));
    const rootfs = { type: 'layers', diff_ids: tars.map(digestOf) };
    const text = JSON.stringify({ os: 'linux', architecture, config: parts.config ?? {}, rootfs, history });
    const kind = isDocker ? 'application/vnd.docker.' : 'application/vnd.oci.image.';
    const config = this.addBlob(text, isDocker ? `${kind}container.image.v1+json` : `${kind}config.v1+json`);
    const mediaType = `${kind}${isDocker ? 'distribution.manifest.v2' : 'manifest.v1'}+json`;
    return { ...this.addManifest(repository, tag, { schemaVersion: 2, mediaType, config, layers }), layers };
  }

  addIndex(repository: string, tag: string, images: readonly { blob: Blob; os: string; architecture: string }[]): Blob {
    const manifests = images.map(({ blob: { digest, size, mediaType }, os, architecture }) => {
      return { digest, size, mediaType, platform: { os, architecture } };
    });
    return this.addManifest(repository, tag, {
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.index.v1+json',
      manifests,
    });
  }

  async close(): Promise<void> {
    this.#release();
    for (const server of this.#servers) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }

  #port(server: number): number {
    return (this.#servers[server]?.address() as AddressInfo).port;
  }

  async #answer(server: Seen['server'], request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => {});
    if (server === 'tokens') return this.#giveToken(request, response);
    const [, repository = '', kind = '', reference = ''] =
      /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/.exec(request.url ?? '') ?? [];
    if (server === 'registry' && !this.#mayRead(request)) return this.#ask(response, repository);
    if (server === 'registry' && (await this.writes.answer(request, response))) return;
    if (kind === '') return void response.writeHead(request.url === '/v2/' ? 200 : 404).end('{}');
    if (kind === 'manifests') {
      const found = this.#manifests.get(`${repository}:${reference}`);
      if (found === undefined) return void response.writeHead(404).end('{}');
      const digest = this.#claimedDigest === '' ? digestOf(found.body) : this.#claimedDigest;
      return void response
        .writeHead(200, {
          'content-type': found.type,
          'docker-content-digest': digest,
          'content-length': Buffer.byteLength(found.body),
        })
        .end(request.method === 'HEAD' ? undefined : found.body);
    }
    const { redirects = false } = this.#options;
    if (redirects === 'for ever' || (redirects && server === 'registry')) {
      const elsewhere = redirects instanceof URL ? redirects : new URL(`http://127.0.0.1:${this.#port(1)}`);
      const location = new URL(request.url ?? '', elsewhere).href;
      return void response.writeHead(307, { location }).end();
    }
    await this.#send(reference, response);
  }

  async #send(digest: string, response: ServerResponse): Promise<void> {
    const body = this.#blobs.get(digest);
    if (body === undefined) return void response.writeHead(404).end('{}');
    const fault = this.faults.get(digest);
    response.writeHead(200, { 'content-type': 'application/octet-stream' });
    if (fault === undefined) return void response.end(body);
    if (fault === 'lie') return void response.end(Buffer.alloc(body.length, 'x'));
    response.write(body.subarray(0, Math.floor(body.length / 2)));
    if (fault === 'truncate') return void response.end();
    if (fault === 'halt') {
      this.#halted();
      await this.#released;
      return void response.end(body.subarray(Math.floor(body.length / 2)));
    }
    while (!response.destroyed) {
      if (!response.write(Buffer.alloc(64 * 1024))) await drained(response);
    }
  }

  #mayRead({ headers: { authorization = '' } }: IncomingMessage): boolean {
    const { login, hasTokens = false, isBasic = false } = this.#options;
    if (isBasic) return authorization === basicOf(login);
    return (login === undefined && !hasTokens) || authorization === 'Bearer the-token';
  }

  #ask(response: ServerResponse, repository: string): void {
    const realm = `http://127.0.0.1:${this.#port(2)}/token`;
    const bearer = `Bearer realm="${realm}",service="test",scope="repository:${repository}:pull"`;
    const question = this.#options.isBasic === true ? 'Basic realm="test"' : bearer;
    response.writeHead(401, { 'www-authenticate': question }).end('{}');
  }

  #giveToken({ headers: { authorization = '' } }: IncomingMessage, response: ServerResponse): void {
    const { login } = this.#options;
    const isKnown = login === undefined || authorization === basicOf(login);
    response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' });
    response.end(isKnown ? JSON.stringify({ token: 'the-token', expires_in: 60 }) : '{}');
  }
}

function basicOf(login: ImageRegistryOptions['login']): string {
  return `Basic ${Buffer.from(`${login?.user ?? ''}:${login?.password ?? ''}`).toString('base64')}`;
}

export function digestOf(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}
