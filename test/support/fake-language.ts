/** A language whose steps are quick standard programs, to test what the builder does around them. */
import type { DependencySet, PlannedProcess, Step, Tool, WantedVersion } from '../../src/build-plan/build-plan.ts';
import { firstSign, type Language, type PlanParts } from '../../src/build-plan/language.ts';
import type { SourceFiles } from '../../src/build-plan/source/source-files.ts';
import { askedRange } from '../../src/build-plan/versions.ts';

const CP: Tool = { program: 'cp', install: { 'apt-get': 'apt-get install -y coreutils' } };

/** Installed by a shared tool, which has only one of its versions. */
const HELPED: Tool = {
  program: 'mv',
  install: { 'apt-get': 'apt-get install -y coreutils' },
  download: {
    otherwise: null,
    by: { name: 'helper', per: 'cp', steps: [['mkdir', '{directory}/has-95.1.0']] },
    available: ['echo', '["95.1.0", "96.0.0"]'],
    install: ['cp', '-R', '{helper}/has-{version}', '{directory}/bin'],
    bin: 'bin',
    hint: 'Set a mirror.',
  },
};

export const FAKE: Language = {
  name: 'fake',
  description: 'for tests',
  example: './run',
  signs: ['app.txt'],
  tools: [CP],
  detect: (files) => firstSign(files, { manifest: ['app.txt'] }),
  plan,
};

/** The second one builds on the first. */
const FRONT: readonly Step[] = ['first', 'second'].map((name) => ({
  name: `front ${name}`,
  run: ['cp', 'front.txt', `front/${name}.txt`],
  optional: 'front end',
}));
const FILL: Step = { name: 'fill', run: ['cp', '-R', '{shared}/made', '{downloads}/filled'], once: true };

async function plan(files: SourceFiles): Promise<PlanParts> {
  const compiles = await files.exists('compile.txt');
  return {
    title: 'fake',
    tools: await tools(files),
    sharedTools: [{ name: 'shared', per: 'cp', steps: [['mkdir', '{directory}/made']] }],
    environment: [
      { name: 'FLAVOUR', value: 'vanilla' },
      { name: 'ONLY_BUILD', value: 'yes', scope: 'build' },
      { name: 'LAYER', value: '{layer}' },
    ],
    dependencies: await dependencies(files),
    steps: [
      ...((await files.exists('once.txt')) ? [FILL] : []),
      ...((await files.exists('front.txt')) ? FRONT : []),
      ...(compiles ? [{ name: 'compile', run: ['cp', 'compile.txt', 'compiled.txt'] }] : []),
    ],
    notes: compiles ? ['compiling is slow'] : [],
    ...((await files.exists('site.txt')) && {
      site: {
        roots: ['made', 'also'],
        index: 'index.html',
        variable: 'ROOT',
        otherwise: { cause: 'build_failed', message: 'The build made no page.', hint: 'Make one.' },
      },
    }),
    path: (await files.exists('own')) ? ['own'] : [],
    processes: await processes(files),
  };
}

async function processes(files: SourceFiles): Promise<Record<string, PlannedProcess>> {
  return (await files.exists('default.txt')) ? { web: { command: './start', from: 'default.txt' } } : {};
}

async function tools(files: SourceFiles): Promise<Tool[]> {
  const available = ['echo', '["96.9.8", "96.9.10", "97.1.0", "97.2.0", "98.0.0"]'];
  const download = { available, install: ['mkdir', '-p', '{directory}/bin/{version}'], bin: 'bin' };
  const seeds = { files: { 'note.txt': 'written first' } };
  const all: Tool[] = [
    { ...CP, wanted: await wanted(files, 'cp'), download: { ...download, ...seeds, otherwise: null } },
  ];
  if (await files.exists('needs-more.txt')) {
    all.push({ program: 'no-such-program', install: { 'apt-get': 'apt-get install -y no-such-package' } });
  }
  if (await files.exists('download.txt')) {
    const install = { 'apt-get': 'apt-get install -y nowhere' };
    all.push({
      program: 'nowhere',
      install,
      wanted: await wanted(files, 'nowhere'),
      download: { ...download, otherwise: '97' },
    });
  }
  const helped = await wanted(files, 'mv');
  if (helped !== null) all.push({ ...HELPED, wanted: helped });
  if (await files.exists('wanted.txt')) {
    const install = { 'apt-get': 'apt-get install -y git' };
    const others = ['no-such-git', 'node'];
    const wish = wantedIn('wanted.txt', await files.text('wanted.txt'));
    const since = (await files.text('fetches.txt'))?.trim();
    all.push({
      program: 'git',
      install,
      others,
      wanted: wish,
      ...(since !== undefined && { fetchesItselfSince: since }),
    });
  }
  return all;
}

async function wanted(files: SourceFiles, program: string): Promise<WantedVersion | null> {
  return wantedIn('app.json', await files.jsonValue('app.json', `wants.${program}`));
}

function wantedIn(from: string, text: unknown): WantedVersion | null {
  if (typeof text !== 'string') return null;
  const range = askedRange(text.trim());
  if (range === null) throw new Error(`no range: ${text}`);
  return { range, text: text.trim(), from };
}

async function dependencies(files: SourceFiles): Promise<DependencySet[]> {
  const sets: DependencySet[] = [];
  if (await files.exists('packages.txt')) {
    sets.push({
      name: 'packages',
      keep: { kind: 'restored', directory: 'packages' },
      neverKept: (await files.exists('never.txt')) ? 'there is never.txt' : null,
      key: { files: ['packages.txt'], values: { packages: await files.jsonValue('app.json', 'packages') } },
      steps: [{ name: 'install packages', run: ['cp', '-R', 'vendor', 'packages'] }],
    });
  }
  if (await files.exists('nested.sh')) {
    sets.push({
      name: 'nested packages',
      keep: { kind: 'restored', directory: 'nested/packages' },
      key: { files: ['nested.sh'] },
      steps: [{ name: 'install nested packages', run: ['sh', 'nested.sh'] }],
    });
  }
  if (await files.exists('layer.txt')) {
    sets.push({
      name: 'layer',
      keep: { kind: 'layer' },
      key: { files: ['layer.txt'] },
      steps: [
        { name: 'make the layer', run: ['cp', 'layer.txt', '{layer}/made.txt'] },
        { name: 'use what is shared', run: ['cp', '-R', '{shared}/made', '{layer}/shared'] },
      ],
    });
  }
  return sets;
}
