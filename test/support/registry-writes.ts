/** What a registry of tests does when something is pushed to it, as the distribution API says, with the faults that tests want. */
import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

export type WriteFault = 'break' | 'busy' | 'refuse';

interface Manifest {
  readonly type: string;
  readonly body: Buffer;
}

export class RegistryWrites {
  /** Taken one after the other by requests with these methods; `break`: half of what comes is kept, and the connection ends. */
  readonly faults: { readonly method: string; readonly fault: WriteFault }[] = [];
  /** False: as registries that remove nothing. */
  deletes = true;
  readonly #blobs: Map<string, Buffer>;
  readonly #manifests: Map<string, Manifest>;
  readonly #uploads = new Map<string, Buffer>();
  /** Which repository has which blob; another one has to mount it. */
  readonly #owned = new Set<string>();

  constructor(blobs: Map<string, Buffer>, manifests: Map<string, Manifest>) {
    this.#blobs = blobs;
    this.#manifests = manifests;
  }

  /** False: it is no request that writes, or prepares that. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const { method = '', url = '' } = request;
    const { pathname, searchParams: query } = new URL(url, 'http://registry');
    const [, repository = '', kind = '', reference = ''] =
      /^\/v2\/(.+?)\/(blobs\/uploads|blobs|manifests|tags)\/(.*)$/.exec(pathname) ?? [];
    const own = (digest: string): boolean => this.#owned.has(`${repository} ${digest}`);
    if (kind === 'tags') return this.#tags(repository, response);
    if (kind === 'blobs' && method === 'HEAD') {
      response.writeHead(own(reference) ? 200 : 404).end();
      return true;
    }
    if (!['POST', 'PATCH', 'PUT', 'DELETE'].includes(method) && kind !== 'blobs/uploads') return false;
    const body = await bodyOf(request);
    const at = this.faults.findIndex((fault) => fault.method === method);
    const [{ fault } = { fault: null }] = at < 0 ? [] : this.faults.splice(at, 1);
    if (fault === 'busy' || fault === 'refuse') {
      response.writeHead(fault === 'busy' ? 503 : 403).end('{}');
    } else if (fault === 'break') {
      const had = this.#uploads.get(reference) ?? Buffer.alloc(0);
      this.#uploads.set(reference, Buffer.concat([had, body.subarray(0, Math.floor(body.length / 2))]));
      request.socket.destroy();
    } else if (kind === 'blobs/uploads') {
      this.#upload({ method, repository, reference, query, body, request }, response);
    } else if (kind === 'manifests') {
      this.#manifest({ method, repository, reference, body, type: request.headers['content-type'] ?? '' }, response);
    } else response.writeHead(405).end('{}');
    return true;
  }

  #upload(
    given: {
      readonly method: string;
      readonly repository: string;
      readonly reference: string;
      readonly query: URLSearchParams;
      readonly body: Buffer;
      readonly request: IncomingMessage;
    },
    response: ServerResponse,
  ): void {
    const { method, repository, reference, query, body, request } = given;
    const mount = query.get('mount');
    if (method === 'POST' && mount !== null && this.#blobs.has(mount)) {
      this.#owned.add(`${repository} ${mount}`);
      return void response.writeHead(201).end();
    }
    if (method === 'POST') {
      const id = randomUUID();
      this.#uploads.set(id, Buffer.alloc(0));
      return void response.writeHead(202, { location: `/v2/${repository}/blobs/uploads/${id}?state=s` }).end();
    }
    const had = this.#uploads.get(reference);
    if (had === undefined) return void response.writeHead(404).end('{}');
    if (method === 'GET') return void response.writeHead(204, { range: `0-${had.length - 1}` }).end();
    const from = /^(\d+)-/.exec(request.headers['content-range'] ?? '')?.[1];
    if (from !== undefined && Number(from) !== had.length) return void response.writeHead(416).end('{}');
    const all = Buffer.concat([had, body]);
    this.#uploads.set(reference, all);
    if (method === 'PATCH') {
      return void response.writeHead(202, { location: `/v2/${repository}/blobs/uploads/${reference}` }).end();
    }
    const digest = digestOf(all);
    if (query.get('digest') !== digest) return void response.writeHead(400).end('{}');
    this.#uploads.delete(reference);
    this.#blobs.set(digest, all);
    this.#owned.add(`${repository} ${digest}`);
    response.writeHead(201).end();
  }

  #manifest(
    given: {
      readonly method: string;
      readonly repository: string;
      readonly reference: string;
      readonly body: Buffer;
      readonly type: string;
    },
    response: ServerResponse,
  ): void {
    const { method, repository, reference, body, type } = given;
    if (method === 'DELETE') {
      if (!this.deletes) return void response.writeHead(405).end('{}');
      const gone = this.#manifests.get(`${repository}:${reference}`)?.body;
      for (const [key, one] of this.#manifests)
        if (gone !== undefined && one.body.equals(gone)) this.#manifests.delete(key);
      return void response.writeHead(gone === undefined ? 404 : 202).end();
    }
    const named = JSON.parse(body.toString()) as { config: { digest: string }; layers: { digest: string }[] };
    const missing = [named.config, ...named.layers].some(({ digest }) => !this.#owned.has(`${repository} ${digest}`));
    if (missing) return void response.writeHead(404).end('{"errors":[{"code":"MANIFEST_BLOB_UNKNOWN"}]}');
    const digest = digestOf(body);
    for (const key of [digest, reference]) this.#manifests.set(`${repository}:${key}`, { type, body });
    response.writeHead(201, { 'docker-content-digest': digest }).end();
  }

  /** Two at a time, so that there are pages. */
  #tags(repository: string, response: ServerResponse): boolean {
    const all = [...this.#manifests.keys()].filter(
      (key) => key.startsWith(`${repository}:`) && !key.includes('sha256:'),
    );
    const tags = all.map((key) => key.slice(repository.length + 1)).sort();
    const last = new URL(response.req.url ?? '', 'http://registry').searchParams.get('last') ?? '';
    const page = tags.filter((tag) => tag > last).slice(0, 2);
    const isMore = tags.some((tag) => tag > (page.at(-1) ?? '￿'));
    const link = isMore ? { link: `</v2/${repository}/tags/list?last=${page.at(-1)}&n=2>; rel="next"` } : {};
    if (all.length === 0) response.writeHead(404).end('{}');
    else response.writeHead(200, link).end(JSON.stringify({ name: repository, tags: page }));
    return true;
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
  return Buffer.concat(parts);
}

function digestOf(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}
