/** What the contract tests speak to: any server of the API, over HTTP only. */
import { type IncomingHttpHeaders, request as httpRequest } from 'node:http';
import { randomHex } from '../../src/lib/ids.ts';
import type { OpenApiDocument } from './document.ts';
import { Recorder } from './recorder.ts';

export interface Server {
  readonly baseUrl: string;
  readonly adminEmail: string;
  readonly adminPassword: string;
  /** Brings an app to life (a finished deploy, one started unit of each process; only `web`, unless others are named); absent where the tests cannot deploy. */
  readonly deploy?: (app: string, token: string, processes?: readonly string[]) => Promise<void>;
  /** The newest letter to somebody; absent where the tests cannot read mail. */
  readonly letterTo?: (email: string) => string;
}

export interface Target extends Server {
  readonly recorder: Recorder;
}

/** Reads the documents that every answer is compared with. */
export async function targetAt(server: Server): Promise<Target> {
  const documentOf = async (prefix: string): Promise<OpenApiDocument> => {
    const answer = await send(server, 'GET', `${prefix}/openapi.json`);
    if (answer.status !== 200) throw new Error(`${prefix}/openapi.json: ${answer.status} ${answer.text}`);
    return answer.json as OpenApiDocument;
  };
  const [union, a, b] = [await documentOf(''), await documentOf('/a'), await documentOf('/b')];
  return { ...server, recorder: new Recorder({ union, a, b }) };
}

/** Side by side: what each variant is expected to serve (specification section 9). */
export const EXPECTED = {
  union: {
    prefix: '',
    log: ['log', 'logs'],
    info: 200,
    pool: true,
    tokens: 200,
    detail: ['ID', 'Id', 'Image', 'Diff'],
  },
  a: { prefix: '/a', log: ['log'], info: 200, pool: true, tokens: 404, detail: ['ID', 'Image'] },
  b: { prefix: '/b', log: ['logs'], info: 404, pool: false, tokens: 200, detail: ['Id', 'Diff'] },
} as const;
export type VariantName = keyof typeof EXPECTED;
export const VARIANT_NAMES = Object.keys(EXPECTED) as VariantName[];

export interface ApiAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly trailers: NodeJS.Dict<string>;
  readonly text: string;
  readonly json: unknown;
  readonly code: string | undefined;
}

export interface Ask {
  readonly token?: string;
  readonly body?: string | object;
  readonly headers?: Readonly<Record<string, string>>;
}

export async function ask(target: Target, method: string, path: string, what: Ask = {}): Promise<ApiAnswer> {
  const answer = await send(target, method, path, what);
  const contentType = answer.headers['content-type'] ?? '';
  const { status, code, text } = answer;
  const headers = Object.keys(answer.headers);
  target.recorder.saw({ method, path, status, contentType, code, text, headers });
  return answer;
}

/** node:http and not fetch: it sends bodies with GET and no Content-Type unless one is given, as the clients of this API do. */
function send(server: Server, method: string, path: string, what: Ask = {}): Promise<ApiAnswer> {
  const body = typeof what.body === 'object' ? JSON.stringify(what.body) : what.body;
  const headers = {
    ...(what.token !== undefined && { authorization: `bearer ${what.token}` }),
    ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
    ...what.headers,
  };
  // The path goes out as it is: a URL would be tidied up first.
  const { hostname, port, pathname } = new URL(server.baseUrl);
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      { hostname, port, path: pathname.replace(/\/$/, '') + path, method, headers, agent: false, timeout: 60_000 },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            trailers: response.trailers,
            text,
            get json() {
              return JSON.parse(text) as unknown;
            },
            code: response.headers['x-tancho-error'] as string | undefined,
          });
        });
      },
    );
    sent.on('error', reject);
    sent.on('timeout', () => sent.destroy(new Error(`${method} ${path}: no answer`)));
    if (what.headers?.['content-length'] !== undefined && body === undefined) sent.flushHeaders();
    else sent.end(body);
  });
}

export function unique(prefix: string): string {
  return `${prefix}${randomHex(8)}`;
}

export async function login(target: Target, email: string, password: string): Promise<string> {
  const answer = await ask(target, 'POST', `/users/${email}/tokens`, { body: { password } });
  if (answer.status !== 200) throw new Error(`login of ${email}: ${answer.status} ${answer.text}`);
  return (answer.json as { token: string }).token;
}

export interface Somebody {
  readonly email: string;
  readonly password: string;
  readonly token: string;
}

/** A new user, created by the admin, so that it works where registration is closed. */
export async function somebody(target: Target, admin: string): Promise<Somebody> {
  const email = `${unique('u')}@example.com`;
  const password = 'secret12';
  const created = await ask(target, 'POST', '/users', { token: admin, body: { email, password } });
  if (created.status !== 200) throw new Error(`creating ${email}: ${created.status} ${created.text}`);
  return { email, password, token: await login(target, email, password) };
}

/** A user with a team and an app in it. */
export async function somebodyWithApp(
  target: Target,
  admin: string,
): Promise<Somebody & { team: string; app: string }> {
  const user = await somebody(target, admin);
  const team = unique('t');
  const app = unique('app-');
  const steps = [
    await ask(target, 'POST', '/teams', { token: user.token, body: { name: team } }),
    await ask(target, 'POST', '/apps', {
      token: user.token,
      body: { name: app, platform: await aPlatform(target, admin) },
    }),
  ];
  for (const step of steps) if (step.status !== 200) throw new Error(`${step.status} ${step.text}`);
  return { ...user, team, app };
}

/** The one that deploys fastest, where it is there. */
export async function aPlatform(target: Target, token: string): Promise<string> {
  const platforms = (await ask(target, 'GET', '/platforms', { token })).json as { Name: string; Ready: boolean }[];
  const ready = platforms.filter((each) => each.Ready);
  const platform = ready.find((each) => each.Name === 'nodejs') ?? ready[0] ?? platforms[0];
  if (platform === undefined) throw new Error('the server has no platform');
  return platform.Name;
}
