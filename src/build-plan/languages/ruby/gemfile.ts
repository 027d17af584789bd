/** Gemfile and Gemfile.lock, as far as they decide how an app is built. */
import { validRange } from 'semver';
import type { WantedVersion } from '../../build-plan.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import { askedRange } from '../../versions.ts';

export interface Gemfile {
  readonly isThere: boolean;
  readonly isLocked: boolean;
  /** A gem that the Gemfile names, or that is locked. */
  has(name: string): Promise<boolean>;
  /** Gems lie in the source itself. */
  readonly hasOwnGems: boolean;
  readonly wanted: WantedVersion | null;
}

export async function readGemfile(files: SourceFiles): Promise<Gemfile> {
  const has = async (name: string): Promise<boolean> => {
    const escaped = name.replaceAll('-', '\\-');
    return (
      (await files.hasLine('Gemfile.lock', new RegExp(`^ {4}${escaped} \\(`))) ||
      files.hasLine('Gemfile', new RegExp(`^\\s*gem\\s*\\(?\\s*["']${escaped}["']`))
    );
  };
  return {
    isThere: await files.exists('Gemfile'),
    isLocked: await files.exists('Gemfile.lock'),
    has,
    hasOwnGems: await files.hasLine('Gemfile', /^\s*(?:gem\b.*\bpath:|gemspec\b|path\s+["'])/),
    wanted: await wantedRuby(files),
  };
}

/** Bundler insists on what Gemfile says; of another file's 3.2.1 any 3.2 will do. */
async function wantedRuby(files: SourceFiles): Promise<WantedVersion | null> {
  const named = await files.findLine(
    'Gemfile',
    /^\s*ruby\s*\(?\s*["']\s*([^"']{1,40})["'](?:\s*,\s*["']([^"']{1,40})["'])?/,
  );
  if (named !== null) {
    const parts = named.match.slice(1).filter((part) => part !== undefined);
    const range = validRange(parts.map(gemRange).join(' '));
    const text = parts.join(', ');
    return range === null ? null : { range, text, from: `Gemfile line ${named.line}` };
  }
  const places: readonly (readonly [string, RegExp])[] = [
    ['.ruby-version', /^\s*(?:ruby-)?(\d+(?:\.\d+)*)/],
    ['.tool-versions', /^\s*ruby\s+(\d+(?:\.\d+)*)/],
  ];
  for (const [file, line] of places) {
    const text = (await files.findLine(file, line))?.match[1];
    const range = text === undefined ? null : askedRange(text);
    if (text !== undefined && range !== null) return { range, text, from: file };
  }
  return null;
}

/** `3.2.1`, `~> 3.2`, `>= 3.1`. */
function gemRange(part: string): string {
  const [, operator = '', version = ''] = /^(~>|>=|<=|>|<|=)?\s*(\d+(?:\.\d+)*)/.exec(part.trim()) ?? [];
  if (operator !== '~>') return `${operator}${version}`;
  return version.split('.').length > 2 ? `~${version}` : `^${version}`;
}
