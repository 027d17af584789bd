/** What sources are written in for which there is no platform: to name it is better than to list what there is. */
import type { SourceFiles } from './source/source-files.ts';

const OTHERS: readonly (readonly [name: string, signs: readonly string[], hint?: string])[] = [
  ['Elixir', ['mix.exs']],
  ['Erlang', ['rebar.config']],
  ['Gleam', ['gleam.toml']],
  ['.NET', ['*.csproj', '*.fsproj', '*.sln', '*.slnx', '*/*.csproj', 'global.json']],
  ['Scala', ['build.sbt']],
  ['Clojure', ['deps.edn', 'project.clj']],
  ['Haskell', ['*.cabal', 'stack.yaml']],
  ['Swift', ['Package.swift']],
  ['Dart', ['pubspec.yaml']],
  ['Crystal', ['shard.yml']],
  ['Zig', ['build.zig']],
  ['Jekyll', ['_config.yml']],
  [
    'Python with conda',
    ['environment.yml', 'environment.yaml'],
    'Name its packages in requirements.txt at the top of the repository, one per line, commit and push again; or add a Dockerfile that builds and starts it.',
  ],
];

interface OtherLanguage {
  readonly name: string;
  /** The file that says so. */
  readonly because: string;
  /** Absent: a Dockerfile is what it wants. */
  readonly hint?: string;
}

export async function otherLanguage(files: SourceFiles): Promise<OtherLanguage | null> {
  for (const [name, signs, hint] of OTHERS) {
    const because = await files.find(...signs);
    if (because !== null) return { name, because, ...(hint !== undefined && { hint }) };
  }
  return null;
}
