import { describe, expect, it } from 'vitest';
import { sourceOf } from '../../../../test/support/memory-source.ts';
import { NO_SETTINGS } from '../../../domain/apps/app-settings.ts';
import type { BuildPlan } from '../../build-plan.ts';
import { planSource } from '../../plan-source.ts';
import { LANGUAGES } from '../built-in.ts';
import { programName } from './module-file.ts';

const MAIN = 'package main\n\nfunc main() {}\n';
const MODULE = { 'go.mod': 'module example.com/store\n' };

async function plan(files: Record<string, string>, buildCommand = ''): Promise<BuildPlan> {
  const settings = { ...NO_SETTINGS, ...(buildCommand !== '' && { buildCommand }) };
  const source = { app: 'shop', platform: 'go', languages: LANGUAGES, files: sourceOf(files), settings };
  return (await planSource(source)).plan;
}

const built = ({ steps }: BuildPlan): string[] | undefined =>
  steps.find(({ name }) => name.startsWith('go build'))?.run.slice(6);
const web = ({ processes }: BuildPlan): string | undefined => processes['web']?.command;

describe('programs', () => {
  it.each<[string, Record<string, string>, string[], string | undefined]>([
    ['the top', { 'main.go': MAIN }, ['.'], 'bin/store'],
    ['a major version', { 'go.mod': 'module example.com/store/v2', 'main.go': MAIN }, ['.'], 'bin/store'],
    ['the only one in cmd/', { 'cmd/api-v1/main.go': MAIN }, ['./cmd/api-v1'], 'bin/api-v1'],
    ['cmd/ itself', { 'cmd/main.go': MAIN }, ['./cmd'], 'bin/cmd'],
    ['a deeper one', { 'cmd/x/y/main.go': MAIN }, ['./cmd/x/y'], 'bin/y'],
    ['the usual name', { 'cmd/job/a.go': MAIN, 'cmd/web/a.go': MAIN }, ['./cmd/job', './cmd/web'], 'bin/web'],
    ['the name of the app', { 'cmd/job/a.go': MAIN, 'cmd/shop/a.go': MAIN }, ['./cmd/job', './cmd/shop'], 'bin/shop'],
    ['the top before cmd/', { 'main.go': MAIN, 'cmd/web/a.go': MAIN }, ['.', './cmd/web'], 'bin/store'],
    ['a usual directory', { 'lib.go': 'package lib', 'server/a.go': MAIN }, ['./server'], 'bin/server'],
    ['no example', { 'lib.go': 'package lib', 'examples/a/a.go': MAIN, 'app/a.go': MAIN }, ['./app'], 'bin/app'],
    ['no file of one tag', { 'gen.go': `//go:build ignore\n\n${MAIN}`, 'cmd/a/a.go': MAIN }, ['./cmd/a'], 'bin/a'],
    [
      'no file that has no main',
      { 'gen.go': 'package main\n\n//go:generate x\n', 'cmd/store/a.go': MAIN },
      ['./cmd/store'],
      'bin/store',
    ],
    [
      'the name of the module',
      { 'cmd/job/a.go': MAIN, 'cmd/store/a.go': MAIN },
      ['./cmd/job', './cmd/store'],
      'bin/store',
    ],
    ['no test', { 'a_test.go': MAIN, 'cmd/a/a.go': MAIN }, ['./cmd/a'], 'bin/a'],
    ['a file of usual tags', { 'a.go': `//go:build linux\n\n${MAIN}` }, ['.'], 'bin/store'],
    ['no module below', { 'cmd/a/a.go': MAIN, 'sub/go.mod': 'module s', 'sub/a.go': MAIN }, ['./cmd/a'], 'bin/a'],
    ['nothing vendored', { 'cmd/a/a.go': MAIN, 'vendor/b/cmd/c/a.go': MAIN }, ['./cmd/a'], 'bin/a'],
  ])('%s', async (_, files, packages, command) => {
    const made = await plan({ ...MODULE, ...files });
    expect([made.problems, built(made), web(made), made.path]).toEqual([[], packages, command, ['bin']]);
  });

  it('those that the Procfile calls are built wherever they are', async () => {
    const files = { ...MODULE, 'main.go': MAIN, 'tools/clean/a.go': MAIN };
    expect(built(await plan(files))).toEqual(['.']);
    const called = await plan({ ...files, Procfile: 'web: bin/store\nworker: ./bin/clean -all\n' });
    expect([called.problems, built(called)]).toEqual([[], ['.', './tools/clean']]);
  });

  it('those that the comment for Heroku names are built, and no others', async () => {
    const module = 'module example.com/store\n\n// +heroku install ./srv/... ./job\ngo 1.22\n';
    const files = { 'go.mod': module, 'main.go': MAIN, 'srv/x/a.go': MAIN, 'job/a.go': MAIN, Procfile: 'web: bin/x' };
    expect(built(await plan(files))).toEqual(['./job', './srv/x']);
  });

  it('of a workspace those of its modules', async () => {
    const made = await plan({
      'go.work': 'go 1.22\nuse (\n\t./api // serves\n\t"./jobs"\n)\nuse ../elsewhere\n',
      'api/go.mod': 'module example.com/shop-api/v3',
      'api/main.go': MAIN,
      'jobs/go.mod': 'module example.com/jobs',
      'jobs/cmd/sweep/main.go': MAIN,
      'other/go.mod': 'module example.com/other',
      'other/main.go': MAIN,
      Procfile: 'web: shop-api\nsweep: bin/sweep',
    });
    expect([made.title, made.problems, built(made)]).toEqual(['Go workspace', [], ['./api', './jobs/cmd/sweep']]);
  });

  it.each([
    ['example.com/shop', 'shop'],
    ['example.com/shop/v12', 'shop'],
    ['example.com/shop/v1', 'v1'],
    ['shop', 'shop'],
    ['v2', 'v2'],
    ['gopkg.in/shop.v2', 'shop.v2'],
    ['', null],
    ['example.com/a b', null],
    ['example.com/-x', null],
  ])('%s is called %s', (path, name) => {
    expect(programName(path)).toBe(name);
  });
});

describe('problems', () => {
  const CMD = { 'cmd/a/main.go': MAIN, 'cmd/b/main.go': MAIN };

  it.each<[Record<string, string>, string, RegExp, string]>([
    [CMD, 'no_process', /several programs.*bin\/a \(cmd\/a\), bin\/b \(cmd\/b\)/, 'web: bin/a'],
    [{ 'lib.go': 'package lib' }, 'no_process', /is a library/, 'cmd/web/main.go'],
    [{ ...CMD, Procfile: 'web: bin/shop' }, 'invalid_config', /process web runs bin\/shop.*bin\/a/, 'go install'],
    [{ 'cmd/x/a/m.go': MAIN, 'cmd/y/a/m.go': MAIN }, 'invalid_config', /Both cmd\/x\/a and cmd\/y\/a/, 'Rename'],
    [
      { 'go.mod': 'module x\n\nrequire (\n\texample.com/y v1.0.0\n)\n', 'main.go': MAIN },
      'invalid_config',
      /^go.mod line 4 requires example.com\/y, but there is no go.sum/,
      'go mod tidy',
    ],
  ])('of %j: %s', async (files, cause, message, hint) => {
    expect((await plan({ ...MODULE, ...files })).problems).toMatchObject([
      { cause, message: expect.stringMatching(message) as string, hint: expect.stringContaining(hint) as string },
    ]);
  });

  it.each<[string, Record<string, string>, string]>([
    ['a file of the source', { ...CMD, Procfile: 'web: bin/run', 'bin/run': '#!/bin/sh' }, ''],
    ['something of the system', { ...CMD, Procfile: 'web: sh -c bin/none' }, ''],
    ['what a build command makes', { ...CMD, Procfile: 'web: bin/made' }, 'make'],
    ['what a hook makes', { ...CMD, Procfile: 'web: bin/made', 'tancho.yaml': 'hooks: { build: [make] }' }, ''],
  ])('none of %s', async (_, files, command) => {
    expect((await plan({ ...MODULE, ...files }, command)).problems).toEqual([]);
  });

  it('no checksums are missing of vendored modules, or of directories of the source', async () => {
    const module = 'module x\nrequire example.com/y v1.0.0\n';
    for (const files of [
      { 'go.mod': module, 'vendor/modules.txt': '' },
      { 'go.mod': `${module}replace example.com/y => ./y\n` },
      { 'go.mod': module, 'go.sum': '' },
    ]) {
      expect((await plan({ ...files, 'main.go': MAIN })).problems).toEqual([]);
    }
  });

  it.each<[Record<string, string>, string, string]>([
    [
      { 'Godeps/Godeps.json': '{"ImportPath":"github.com/ann/old"}' },
      'it has Godeps/Godeps.json',
      'github.com/ann/old',
    ],
    [{ 'vendor/vendor.json': '{"rootPath":"github.com/ann/old"}' }, 'it has vendor/vendor.json', 'github.com/ann/old'],
    [{ 'Gopkg.toml': '' }, 'it has Gopkg.toml', 'example.com/shop'],
    [{}, 'this source is none', 'example.com/shop'],
    [{ 'Godeps/Godeps.json': '{"ImportPath":"a; rm -rf /"}' }, 'Godeps', 'example.com/shop'],
  ])('a source from before modules, with %j', async (files, because, module) => {
    const { problems } = await plan({ 'main.go': MAIN, ...files });
    expect(problems).toMatchObject([{ cause: 'invalid_config', message: expect.stringContaining(because) as string }]);
    expect(problems[0]?.hint).toContain(`go mod init ${module} && go mod tidy`);
  });
});

describe('versions', () => {
  it.each([
    ['go 1.22', '>=1.22.0', '1.22'],
    ['go 1.22.3\ntoolchain go1.23.1', '>=1.23.1', 'go1.23.1'],
    ['go 1.24.2\ntoolchain go1.23.1', '>=1.24.2', '1.24.2'],
    ['go 1.9\ntoolchain default', '>=1.9.0', '1.9'],
    ['go 1.23rc1', '>=1.23.0', '1.23rc1'],
  ])('of %j: %s', async (lines, range, text) => {
    const { tools } = await plan({ 'go.mod': `module x\n${lines}\n`, 'main.go': MAIN });
    expect(tools).toMatchObject([{ program: 'go', wanted: { range, text, from: 'go.mod' } }]);
  });

  it('of none that is named, any', async () => {
    expect((await plan({ ...MODULE, 'main.go': MAIN })).tools).toMatchObject([{ wanted: null }]);
  });
});
