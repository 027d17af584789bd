/** Pure: the name of an image -> where it is kept and what is meant there. */
import { PlatformError } from '../errors.ts';
import { REGISTRY_HOST } from '../registries/registry-login.ts';

export interface ImageName {
  /** Host of the registry, with its port where that is not the usual one. */
  readonly host: string;
  readonly repository: string;
  /** What is asked for: a digest where the name has one, else a tag. */
  readonly reference: string;
  /** Complete, without a digest: `registry.example.com/team/app:1`. */
  readonly full: string;
}

/** Where a name without a host is looked for, as everywhere. */
const DEFAULT_HOST = 'docker.io';
const MAX_NAME = 400;
const REPOSITORY = /^[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*)*$/;
const TAG = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;
export const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** Throws `input.invalid`. */
export function parseImageName(text: string): ImageName {
  const given = text.trim();
  const [, named = '', digest] = /^([^@]*)(?:@(.*))?$/s.exec(given) ?? [];
  const [first = '', ...rest] = named.split('/');
  const hasHost = rest.length > 0 && (/[.:[]/.test(first) || first === 'localhost');
  const host = hasHost ? first.toLowerCase() : DEFAULT_HOST;
  const path = hasHost ? rest.join('/') : named;
  const [, short = '', tag] = /^([^:]*)(?::(.*))?$/s.exec(path) ?? [];
  const repository = host === DEFAULT_HOST && !short.includes('/') ? `library/${short}` : short;
  const isGood =
    given.length <= MAX_NAME &&
    REGISTRY_HOST.test(host) &&
    REPOSITORY.test(repository) &&
    (tag === undefined || TAG.test(tag)) &&
    (digest === undefined || DIGEST.test(digest));
  if (!isGood) {
    throw new PlatformError('input.invalid', `"${given.slice(0, 200)}" is not the name of an image.`, {
      hint: 'Name it as registry.example.com/team/app:tag, or with a digest: registry.example.com/team/app@sha256:<64 digits>.',
    });
  }
  const withTag = tag ?? (digest === undefined ? 'latest' : undefined);
  const full = `${host}/${repository}${withTag === undefined ? '' : `:${withTag}`}`;
  return { host, repository, reference: digest ?? withTag ?? '', full };
}
