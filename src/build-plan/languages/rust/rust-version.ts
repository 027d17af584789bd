/** Which Rust a source needs. Newer ones compile what older ones did, so each wish is one for at least that version. */
import { lt } from 'semver';
import type { WantedVersion } from '../../build-plan.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import { type Crates, table } from './crates.ts';

/** The first version that knows the edition, and the format of the lock file. */
const EDITIONS: Readonly<Record<string, string>> = { 2018: '1.31', 2021: '1.56', 2024: '1.85' };
const LOCKS: Readonly<Record<string, string>> = { 3: '1.53', 4: '1.78' };
const TOOLCHAIN_FILES = ['rust-toolchain.toml', 'rust-toolchain'];

interface RustVersion {
  /** The newest that something asks for. */
  readonly wanted: WantedVersion | null;
  readonly warnings: readonly string[];
}

export async function rustVersion(files: SourceFiles, { crates }: Crates): Promise<RustVersion> {
  const wishes: { text: string; from: string; version?: string }[] = [];
  const warnings: string[] = [];
  const channel = await askedChannel(files);
  if (channel !== null && /^\d/.test(channel.text)) wishes.push(channel);
  else if (channel !== null && /^(?:nightly|beta)/.test(channel.text)) {
    warnings.push(
      `${channel.from} asks for ${channel.text}; the server's Rust is used, and what only ${channel.text} knows is not compiled by it.`,
    );
  }
  const workspace = table((await files.toml('Cargo.toml')) ?? {}, 'workspace') ?? {};
  const shared = table(workspace, 'package') ?? {};
  for (const { manifest, directory } of crates) {
    const about = { ...shared, ...table(manifest, 'package') };
    const from = directory === '' ? 'Cargo.toml' : `${directory}/Cargo.toml`;
    for (const key of ['rust-version', 'edition']) {
      const value = about[key];
      const text = typeof value === 'string' ? value : shared[key];
      if (typeof text !== 'string') continue;
      const version = key === 'edition' ? EDITIONS[text] : text;
      if (version !== undefined) wishes.push({ text: key === 'edition' ? `edition ${text}` : text, from, version });
    }
  }
  const lock = (await files.findLine('Cargo.lock', /^version = (\d+)$/))?.match[1] ?? '';
  if (LOCKS[lock] !== undefined) wishes.push({ text: `format ${lock}`, from: 'Cargo.lock', version: LOCKS[lock] });
  return { wanted: newest(wishes), warnings };
}

async function askedChannel(files: SourceFiles): Promise<{ text: string; from: string } | null> {
  for (const from of TOOLCHAIN_FILES) {
    const found = await files.findLine(from, /^\s*(?:channel\s*=\s*"([^"]+)"|([\w.-]+)\s*$)/);
    const text = found?.match[1] ?? found?.match[2];
    if (text !== undefined) return { text: text.slice(0, 80), from };
  }
  return null;
}

function newest(wishes: readonly { text: string; from: string; version?: string }[]): WantedVersion | null {
  let best: { full: string; text: string; from: string } | null = null;
  for (const { text, from, version = text } of wishes) {
    const found = /^(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?/.exec(version);
    if (found === null) continue;
    const full = [1, 2, 3].map((group) => Number(found[group] ?? 0)).join('.');
    if (best === null || lt(best.full, full)) best = { full, text, from };
  }
  return best === null ? null : { range: `>=${best.full}`, text: best.text, from: best.from };
}
