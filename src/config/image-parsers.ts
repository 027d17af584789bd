/** Parsers of settings that name images. */
import { BadValue, type Parser } from './parsers.ts';

const PLACE =
  /^(?=.{1,260}$)(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?(?:\/[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*)+$/;
/** As images are named, see domain/deploys/image-name.ts, which judges again. */
const IMAGE =
  /^(?=.{1,400}$)(?:[A-Za-z0-9.-]+(?::[0-9]{1,5})?\/|\[[0-9a-f:.]+\](?::[0-9]{1,5})?\/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*(?::[A-Za-z0-9_][A-Za-z0-9._-]{0,127})?(?:@sha256:[0-9a-f]{64})?$/;
const PLATFORM = /^(?:\*|[a-z][a-z0-9-]{0,62})$/;

/** `registry.example.com/apps`; a path there has to be, for some registries make it a place of somebody's. */
export const imagePlaceOrNone: Parser<string | null> = (text) => {
  const value = text.trim().replace(/\/+$/, '');
  if (value === '') return null;
  if (PLACE.test(value)) return value;
  throw new BadValue('must be the host of a registry and a path there, for example registry.example.com/apps');
};

/** `platform=image` with commas between them. */
export const imageBases: Parser<ReadonlyMap<string, string>> = (text) => {
  const bases = new Map<string, string>();
  for (const entry of text.split(',').map((one) => one.trim())) {
    if (entry === '') continue;
    const [, platform = '', image = ''] = /^([^=\s]+)\s*=\s*(\S+)$/.exec(entry) ?? [];
    if (!PLATFORM.test(platform) || bases.has(platform) || !IMAGE.test(image)) {
      throw new BadValue(
        'must be platform=image with commas between them, for example nodejs=docker.io/library/node:24, *=registry.example.com/debian:12, each platform once',
      );
    }
    bases.set(platform, image);
  }
  return bases;
};

type NamedBuilder = { readonly kind: 'docker' } | { readonly kind: 'buildkit'; readonly address: string };
const BUILDKIT = /^(?:unix:\/\/\/[\w./-]{1,100}|tcp:\/\/(?:[\w.-]{1,253}|\[[0-9a-f:.]+\]):\d{1,5})$/;

/** Null: buildah. */
export const imageBuilder: Parser<NamedBuilder | null> = (text) => {
  const value = text.trim();
  if (value === '' || value === 'buildah') return null;
  if (value === 'docker') return { kind: 'docker' };
  if (BUILDKIT.test(value)) return { kind: 'buildkit', address: value };
  throw new BadValue(
    'must be buildah, docker, or the address of a BuildKit such as unix:///run/buildkit/buildkitd.sock',
  );
};
