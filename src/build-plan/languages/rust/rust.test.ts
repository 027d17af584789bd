import { describe, expect, it } from 'vitest';
import { sourceOf } from '../../../../test/support/memory-source.ts';
import { AUTO_PLATFORM } from '../../../domain/platforms/platform.ts';
import type { BuildPlan } from '../../build-plan.ts';
import { planSource } from '../../plan-source.ts';
import { LANGUAGES } from '../built-in.ts';

const MAIN = { 'src/main.rs': 'fn main() {}' };
const LOCK = { 'Cargo.lock': 'version = 3\n' };

async function plan(files: Record<string, string>): Promise<BuildPlan> {
  const source = { app: 'shop', platform: AUTO_PLATFORM, languages: LANGUAGES, files: sourceOf(files) };
  return (await planSource(source)).plan;
}

function crate(name: string, more = ''): string {
  return `[package]\nname = "${name}"\nversion = "0.1.0"\n${more}`;
}

const built = ({ steps }: BuildPlan): string => (steps[0]?.run.slice(3) ?? []).join(' ');
const web = ({ processes }: BuildPlan): string | undefined => processes['web']?.command;

describe('programs', () => {
  it.each<[string, Record<string, string>, string, string | undefined]>([
    ['the package', { 'Cargo.toml': crate('store'), ...MAIN }, '--package store --bin store', 'store'],
    [
      'those of src/bin, of which web serves',
      { 'Cargo.toml': crate('store'), 'src/bin/web.rs': '', 'src/bin/job/main.rs': '' },
      '--package store --bin web --bin job',
      'web',
    ],
    [
      'the default members of a workspace',
      {
        'Cargo.toml': '[workspace]\nmembers = ["crates/*"]\ndefault-members = ["crates/store"]\n',
        'crates/store/Cargo.toml': crate('store'),
        'crates/store/src/main.rs': '',
        'crates/import/Cargo.toml': crate('import'),
        'crates/import/src/main.rs': '',
      },
      '--package store --bin store',
      'store',
    ],
    [
      'default-run',
      { 'Cargo.toml': crate('store', 'default-run = "b"'), 'src/bin/a.rs': '', 'src/bin/b.rs': '' },
      '--package store --bin a --bin b',
      'b',
    ],
    [
      'the package before others of it',
      { 'Cargo.toml': crate('store'), ...MAIN, 'src/bin/import.rs': '' },
      '--package store --bin store --bin import',
      'store',
    ],
    [
      'another name for src/main.rs',
      { 'Cargo.toml': crate('store', '[[bin]]\nname = "till"\npath = "src/main.rs"'), ...MAIN },
      '--package store --bin till',
      'till',
    ],
    [
      'not what needs features',
      {
        'Cargo.toml': crate('store', '[[bin]]\nname = "x"\nrequired-features = ["x"]'),
        'src/bin/x.rs': '',
        ...MAIN,
      },
      '--package store --bin store',
      'store',
    ],
    [
      'members of a workspace',
      {
        'Cargo.toml': '[workspace]\nmembers = ["crates/*", "./xtask"]\nexclude = ["crates/old"]',
        'crates/lib/Cargo.toml': crate('lib'),
        'crates/old/Cargo.toml': crate('old'),
        'crates/old/src/main.rs': '',
        'crates/api/Cargo.toml': crate('api'),
        'crates/api/src/main.rs': '',
        'xtask/Cargo.toml': crate('xtask'),
        'xtask/src/main.rs': '',
      },
      '--package api --bin api',
      'api',
    ],
  ])('%s', async (_, files, which, program) => {
    const made = await plan({ ...LOCK, ...files });
    expect([made.platform, made.problems, made.path]).toEqual(['rust', [], ['target/release']]);
    expect([built(made), web(made)]).toEqual([which, `target/release/${program}`]);
  });

  it('those that the Procfile calls are built wherever they are', async () => {
    const made = await plan({
      'Cargo.toml': `${crate('store')}\n[workspace]\nmembers = ["tools/sweep"]`,
      ...MAIN,
      'tools/sweep/Cargo.toml': crate('sweep'),
      'tools/sweep/src/main.rs': '',
      Procfile: 'web: ./target/release/store\nsweep: sweep --all\n',
    });
    expect(made.problems).toEqual([]);
    expect(built(made)).toBe('--package store --package sweep --bin store --bin sweep');
    expect(made.steps[1]?.run.slice(-2)).toEqual([
      '{downloads}/target/release/store',
      '{downloads}/target/release/sweep',
    ]);
    expect(made.notes).toContainEqual(expect.stringContaining('no Cargo.lock'));
  });

  it.each([
    ['serde = "1"', '1.0.200', null],
    ['serde = { version = "1.0, <2", features = ["derive"] }', '1.0.200', null],
    ['serde = { path = "../serde" }', '0.1.0', null],
    ['json = { package = "serde", version = "1" }', '1.0.1', null],
    ['serde = "2.0.1"', '1.0.200', /Cargo\.toml asks for serde 2\.0\.1, which is 1\.0\.200 in Cargo\.lock/],
    ['axum = "0.7"', '1.0.0', /Cargo\.toml asks for axum 0\.7, which is not in Cargo\.lock.*cargo build/],
  ])('a Cargo.lock that does not fit is said, and built all the same: %s', async (asked, locked, warning) => {
    const lock = `version = 3\n[[package]]\nname = "serde"\nversion = "${locked}"\n\n[metadata]\nname = "axum"\n`;
    const made = await plan({ 'Cargo.toml': crate('store', `[dependencies]\n${asked}`), ...MAIN, 'Cargo.lock': lock });
    expect(made.problems).toEqual([]);
    if (warning === null) expect(made.warnings).toEqual([]);
    else expect(made.warnings).toEqual([expect.stringMatching(warning)]);
    expect(built(made)).not.toContain('--locked');
  });

  it('Rocket gets its port', async () => {
    const made = await plan({ 'Cargo.toml': crate('store', '[dependencies]\nrocket = "0.5"'), ...MAIN });
    expect(web(made)).toBe('ROCKET_ADDRESS=0.0.0.0 ROCKET_PORT=$PORT exec target/release/store');
  });
});

describe('problems', () => {
  const TWO = { 'Cargo.toml': crate('store'), 'src/bin/a.rs': '', 'src/bin/b.rs': '' };

  it.each<[Record<string, string>, string, RegExp, string]>([
    [{ 'Cargo.toml': crate('store'), 'src/lib.rs': '' }, 'no_process', /is a library/, 'src/main.rs'],
    [TWO, 'no_process', /several programs.*target\/release\/a \(the top\)/, 'web: target/release/a'],
    [
      { ...TWO, Procfile: 'web: target/release/shop' },
      'invalid_config',
      /process web runs target\/release\/shop, which nothing of this source makes/,
      '[[bin]]',
    ],
  ])('of %j: %s', async (files, cause, message, hint) => {
    expect((await plan(files)).problems).toMatchObject([
      { cause, message: expect.stringMatching(message) as string, hint: expect.stringContaining(hint) as string },
    ]);
  });

  it('none where members are named in a way that is not followed, or something else builds', async () => {
    const deep = { 'Cargo.toml': '[workspace]\nmembers = ["a/**"]', Procfile: 'web: target/release/x' };
    expect((await plan(deep)).problems).toEqual([]);
    const hook = { ...TWO, Procfile: 'web: target/release/x', 'tancho.yaml': 'hooks: { build: [make] }' };
    expect((await plan(hook)).problems).toEqual([]);
  });

  it('names the line of a mistake in Cargo.toml', async () => {
    await expect(plan({ 'Cargo.toml': '[package]\nname = \n' })).rejects.toMatchObject({
      code: 'invalid_config',
      message: expect.stringMatching(/^Cargo.toml line 2 is not valid TOML/) as string,
    });
  });
});

describe('versions', () => {
  it.each<[Record<string, string>, string, string, string]>([
    [{ 'rust-toolchain.toml': '[toolchain]\nchannel = "1.80.1"' }, '>=1.80.1', '1.80.1', 'rust-toolchain.toml'],
    [{ 'rust-toolchain': '1.80\n' }, '>=1.80.0', '1.80', 'rust-toolchain'],
    [{ 'Cargo.toml': crate('a', 'rust-version = "1.70"\nedition = "2021"') }, '>=1.70.0', '1.70', 'Cargo.toml'],
    [{ 'Cargo.toml': crate('a', 'edition = "2024"') }, '>=1.85.0', 'edition 2024', 'Cargo.toml'],
    [
      { 'Cargo.toml': `${crate('a', 'edition.workspace = true')}\n[workspace.package]\nedition = "2024"` },
      '>=1.85.0',
      'edition 2024',
      'Cargo.toml',
    ],
    [{ 'Cargo.lock': '# made\nversion = 4\n' }, '>=1.78.0', 'format 4', 'Cargo.lock'],
  ])('of %j: %s', async (files, range, text, from) => {
    const { tools } = await plan({ 'Cargo.toml': crate('a'), ...MAIN, ...files });
    expect(tools).toMatchObject([{ program: 'cargo', wanted: { range, text, from } }, { program: 'cc' }]);
  });

  it.each(['nightly-2025-01-01', 'stable'])('%s is none', async (channel) => {
    const made = await plan({ 'Cargo.toml': crate('a'), ...MAIN, 'rust-toolchain': channel });
    expect(made.tools[0]?.wanted).toBeNull();
    expect(made.warnings).toHaveLength(channel === 'stable' ? 0 : 1);
  });
});
