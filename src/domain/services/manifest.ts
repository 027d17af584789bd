/** Reads the manifest of a service (specification 2, "Service metadata"): every mistake at once, each with its line. */
import { type Document, isAlias, isMap, isScalar, LineCounter, parseDocument, type YAMLMap } from 'yaml';
import { nearest } from '../../lib/nearest.ts';
import { withoutTrailing } from '../../lib/without-trailing.ts';
import { beyondYamlBounds } from '../../lib/yaml-bounds.ts';
import { PlatformError } from '../errors.ts';
import { isServiceName } from './service.ts';
import { ENDPOINT_KINDS, type EndpointKind } from './service-endpoint.ts';

export interface ServiceManifest {
  readonly id: string;
  /** Null: http, or as before. */
  readonly kind: EndpointKind | null;
  readonly url: string;
  readonly username: string;
  /** '' when none is named: none, or as before. */
  readonly password: string;
  /** '' when none is named. */
  readonly team: string;
  /** Null: not, or as before; so no update opens a service by leaving something out. */
  readonly isRestricted: boolean | null;
}

const MAX_TEXT = 4_096;
const KEYS: ReadonlySet<string> = new Set([
  'id',
  'username',
  'password',
  'endpoint',
  'production',
  'team',
  'kind',
  'restricted',
]);
/** In place of a position. */
const SAID = -1;
const MAX_ERRORS = 20;

/** Throws PlatformError `manifest.invalid`. Keys that are not known mean nothing: other platforms have more. */
export function parseManifest(text: string): ServiceManifest {
  const beyond = beyondYamlBounds(text);
  if (beyond !== null) throw invalid([`line 1: the manifest ${beyond}`]);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, stringKeys: true });
  if (document.errors.length > 0) {
    // A message of the parser may repeat what is written there, so only its kind is reported.
    const some = document.errors.slice(0, MAX_ERRORS);
    throw invalid(some.map((error) => at(lines, error.pos[0], `not YAML (${words(error.code)})`)));
  }
  if (!isMap(document.contents)) {
    throw invalid(['line 1: expected a mapping such as "id: <name>"']);
  }
  const reader = new Reader(lines, document);
  return reader.read(document.contents);
}

/** The same from the fields of a form. */
export function manifestOf(fields: Readonly<Record<string, string>>): ServiceManifest {
  const { id = '', endpoint = '', username = '', password = '', team = '', kind = '', restricted = '' } = fields;
  const reader = new Reader(null, null);
  return reader.check({ id, url: endpoint, username, password, team, kind, restricted }, {});
}

type Fields = Readonly<Record<'id' | 'url' | 'username' | 'password' | 'team' | 'kind' | 'restricted', string>>;

class Reader {
  readonly #lines: LineCounter | null;
  readonly #document: Document | null;
  readonly #mistakes: { readonly offset: number; readonly message: string }[] = [];

  constructor(lines: LineCounter | null, document: Document | null) {
    this.#lines = lines;
    this.#document = document;
  }

  read(root: YAMLMap): ServiceManifest {
    const endpoint = this.#valueOf(root, 'endpoint');
    const isMapping = isMap(endpoint);
    if (endpoint !== undefined && !isMapping) {
      this.#mistake(offsetOf(root, 'endpoint'), 'endpoint must be a mapping with the key production');
    }
    const positions: Record<string, number | undefined> = {};
    const text = (map: YAMLMap, key: string, field: string): string => {
      positions[field] = offsetOf(map, key) ?? misspelt(map, key);
      const found = this.#text(map, key);
      // Said already: that it is missing as well would be no news.
      if (found === null) positions[field] = SAID;
      return found ?? '';
    };
    const fields = {
      id: text(root, 'id', 'id'),
      url: isMapping ? text(endpoint, 'production', 'url') : '',
      username: text(root, 'username', 'username'),
      password: text(root, 'password', 'password'),
      team: text(root, 'team', 'team'),
      kind: text(root, 'kind', 'kind'),
      restricted: text(root, 'restricted', 'restricted'),
    };
    // Left out they are allowed, so a slip of the pen would go unnoticed.
    for (const key of ['password', 'username']) {
      const slip = offsetOf(root, key) === undefined ? misspelt(root, key) : undefined;
      if (slip !== undefined) this.#mistake(slip, `this looks like the key ${key}, but is written differently`);
    }
    if (isMapping) positions['url'] ??= offsetOf(root, 'endpoint');
    else positions['url'] = endpoint === undefined ? misspelt(root, 'endpoint') : SAID;
    return this.check(fields, positions);
  }

  check(fields: Fields, positions: Readonly<Record<string, number | undefined>>): ServiceManifest {
    const { id, username, password, team, kind, restricted } = fields;
    const wrong = (field: string, message: string): void => {
      if (positions[field] !== SAID) this.#mistake(positions[field], message);
    };
    if (id === '') wrong('id', 'You must provide an id in the manifest file.');
    else if (!isServiceName(id)) {
      wrong(
        'id',
        'the id must be 1 to 63 letters, digits, dots, dashes and underscores, and neither "instances" nor "proxy"',
      );
    }
    let url = '';
    if (fields.url === '') {
      wrong('url', 'You must provide a production endpoint in the manifest file.');
    } else {
      url = normalUrl(fields.url);
      if (url === '') wrong('url', 'the production endpoint must be an address such as https://db.example.com');
    }
    if (username.includes(':')) wrong('username', 'the username must not have a colon');
    const isKnown = kind === '' || isKind(kind);
    if (!isKnown) wrong('kind', `kind must be one of: ${ENDPOINT_KINDS.join(', ')}`);
    if (!['', 'true', 'false'].includes(restricted)) wrong('restricted', 'restricted must be true or false');
    if (this.#mistakes.length > 0 || !isKnown) throw invalid(this.#found());
    const isRestricted = restricted === '' ? null : restricted === 'true';
    return { id, kind: kind === '' ? null : kind, url, username: username || id, password, team, isRestricted };
  }

  /** '' when it is not there, null when it is a mistake. */
  #text(map: YAMLMap, key: string): string | null {
    const node = this.#valueOf(map, key);
    if (node === undefined) return '';
    const value = isScalar(node) ? node.value : undefined;
    if (value === null) return '';
    const text = typeof value === 'object' || value === undefined ? null : written(node, value);
    if (text !== null && text.length <= MAX_TEXT && !text.includes('\0')) return text.trim();
    this.#mistake(offsetOf(map, key), `${key} must be text of at most ${MAX_TEXT} characters`);
    return null;
  }

  /** What an alias stands for; null for one of an anchor that is not there. */
  #valueOf(map: YAMLMap, key: string): unknown {
    const node = map.get(key, true) as unknown;
    return isAlias(node) && this.#document !== null ? (node.resolve(this.#document) ?? null) : node;
  }

  #mistake(offset: number | undefined, message: string): void {
    this.#mistakes.push({ offset: offset ?? 0, message });
  }

  #found(): string[] {
    const lines = this.#lines;
    if (lines === null) return this.#mistakes.map(({ message }) => message);
    return [...this.#mistakes]
      .sort((a, b) => a.offset - b.offset)
      .map(({ offset, message }) => at(lines, offset, message));
  }
}

/** A password such as 0123 or 1e5 is what is written, not the number it also is. */
function written(node: unknown, value: unknown): string {
  const source = isScalar(node) ? node.source : undefined;
  return typeof value === 'string' ? value : (source ?? String(value));
}

/** Where a key is that was probably meant to be this one. */
function misspelt(map: YAMLMap, key: string): number | undefined {
  const unknown = map.items.flatMap(({ key: node }) =>
    isScalar(node) && typeof node.value === 'string' && !KEYS.has(node.value) ? [node.value] : [],
  );
  const near = nearest(key, unknown);
  return near === undefined ? undefined : offsetOf(map, near);
}

function offsetOf(map: YAMLMap, key: string): number | undefined {
  const pair = map.items.find((item) => isScalar(item.key) && item.key.value === key);
  return pair !== undefined && isScalar(pair.key) ? (pair.key.range?.[0] ?? undefined) : undefined;
}

function isKind(text: string): text is EndpointKind {
  return ENDPOINT_KINDS.some((kind) => kind === text);
}

/** http or https, without credentials, query and trailing slash; '' when it is no such address. */
function normalUrl(text: string): string {
  const full = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  // Taken for a host, a scheme that is written wrongly would be noticed only when nobody answers.
  if (/^https?[:/]/i.test(text) && full !== text) return '';
  if (!URL.canParse(full) || full.replace(/^[a-z]+:\/\//i, '').includes('://')) return '';
  const url = new URL(full);
  const isPlain = url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (!isPlain || (url.protocol !== 'http:' && url.protocol !== 'https:')) return '';
  return withoutTrailing(`${url.origin}${url.pathname}`, '/');
}

function at(lines: LineCounter, offset: number, message: string): string {
  return `line ${Math.max(1, lines.linePos(offset).line)}: ${message}`;
}

function words(code: string): string {
  return code.toLowerCase().replaceAll('_', ' ');
}

function invalid(mistakes: readonly string[]): PlatformError {
  return new PlatformError('manifest.invalid', mistakes.join('\n'), {
    hint: 'See "tancho service template" for a manifest to begin with.',
    details: { mistakes },
  });
}
