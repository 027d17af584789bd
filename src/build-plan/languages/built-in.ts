/** The languages that come with the program. Of two that are equally sure of a source the earlier one is taken. */
import type { Language } from '../language.ts';
import { deno } from './deno/deno.ts';
import { dockerfile } from './dockerfile/dockerfile.ts';
import { go } from './go/go.ts';
import { hugo } from './hugo/hugo.ts';
import { java } from './java/java.ts';
import { nodejs } from './node/node.ts';
import { php } from './php/php.ts';
import { python } from './python/python.ts';
import { ruby } from './ruby/ruby.ts';
import { rust } from './rust/rust.ts';
import { staticFiles } from './static/static-files.ts';

export const LANGUAGES: readonly Language[] = [
  hugo,
  go,
  rust,
  java,
  php,
  ruby,
  python,
  nodejs,
  deno,
  staticFiles,
  dockerfile,
];

/** Variables of the server that a platform of an admin's may give to its builds, too: those that these languages do. */
export const INHERITABLE: ReadonlySet<string> = new Set(LANGUAGES.flatMap(({ inherit = [] }) => inherit));
