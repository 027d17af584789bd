/** composer.json, as far as it decides how an app is built. */
import { isRecord } from '../../../lib/is-record.ts';
import type { WantedVersion } from '../../build-plan.ts';
import { type SourceFiles, valueAt } from '../../source/source-files.ts';
import { askedRange } from '../../versions.ts';

export interface ComposerJson {
  readonly isThere: boolean;
  readonly isLocked: boolean;
  /** Names of packages that are not of PHP itself. */
  readonly packages: readonly string[];
  /** `mbstring`, without those that every PHP has. */
  readonly extensions: readonly string[];
  readonly scripts: readonly string[];
  readonly wanted: WantedVersion | null;
}

const EVERYWHERE = new Set([
  'json',
  'ctype',
  'tokenizer',
  'filter',
  'hash',
  'pcre',
  'session',
  'iconv',
  'spl',
  'date',
  'openssl',
  'fileinfo',
  'zlib',
  'reflection',
  'standard',
  'pdo',
  'phar',
  'posix',
  'pcntl',
  'random',
  'libxml',
]);

/** Throws Failure `invalid_config`. */
export async function readComposerJson(files: SourceFiles): Promise<ComposerJson> {
  const content = await files.json('composer.json');
  const required = Object.entries(recordAt(content, 'require'));
  const names = required.map(([name]) => name.toLowerCase());
  const php = required.find(([name]) => name === 'php')?.[1];
  const extensions = names.filter((name) => name.startsWith('ext-')).map((name) => name.slice('ext-'.length));
  return {
    isThere: content !== undefined,
    isLocked: await files.exists('composer.lock'),
    packages: names.filter((name) => name.includes('/')),
    extensions: extensions.filter((name) => /^[\w-]+$/.test(name) && !EVERYWHERE.has(name)).sort(),
    scripts: Object.keys(recordAt(content, 'scripts')),
    wanted: wantedPhp(php),
  };
}

/** `>=8.1`, `^8.2`, `~8.1.0 || ~8.2.0`, `8.*`, `^7.4|^8.0`. */
function wantedPhp(php: unknown): WantedVersion | null {
  if (typeof php !== 'string') return null;
  const parts = php.slice(0, 200).split(/\s*\|\|?\s*/);
  const ranges = parts.map((part) =>
    askedRange(
      part
        .trim()
        .split(/\s+(?=[<>=!^~])/)
        .join(','),
    ),
  );
  if (ranges.some((range) => range === null)) return null;
  return { range: ranges.join(' || '), text: php, from: 'require.php in composer.json' };
}

function recordAt(content: unknown, key: string): Record<string, unknown> {
  const value = valueAt(content, [key]);
  return isRecord(value) ? value : {};
}
