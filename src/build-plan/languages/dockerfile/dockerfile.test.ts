import { describe, expect, it } from 'vitest';
import { sourceOf } from '../../../../test/support/memory-source.ts';
import { planSource } from '../../plan-source.ts';
import { LANGUAGES } from '../built-in.ts';
import { readInstructions } from './instructions.ts';
import { neededImages, readStages } from './stages.ts';

const recipe = (text: string) => readStages(readInstructions(text));
const needed = (text: string, target = '', args: Record<string, string> = {}) =>
  neededImages(recipe(text), target, args).map(({ image, line }) => `${line} ${image}`);

async function planOf(files: Record<string, string>, platform = 'auto') {
  return (await planSource({ app: 'shop', platform, languages: LANGUAGES, files: sourceOf(files) })).plan;
}

const problemsOf = async (files: Record<string, string>): Promise<string[]> =>
  (await planOf(files, 'dockerfile')).problems.map(({ message }) => message);

describe('instructions', () => {
  it('go over several lines, skip comments and blank lines, and know their line', () => {
    const text = '# syntax=docker/dockerfile:1\n\nFROM a\nRUN one \\\n  # between\n\n  two \\\n  three\nrun four\n';
    expect(readInstructions(text).map(({ name, text: rest, line }) => [name, rest.replace(/\s+/g, ' '), line])).toEqual(
      [
        ['FROM', 'a', 3],
        ['RUN', 'one two three', 4],
        ['RUN', 'four', 9],
      ],
    );
  });

  it('take another escape, and the lines of a here-document are none', () => {
    expect(readInstructions('# escape=`\nFROM a\nRUN x `\n y\n').map(({ text }) => text)).toEqual(['a', 'x  y']);
    const [, run, cmd] = readInstructions('FROM a\nRUN <<EOF\nFROM b\nEOF\nCMD x\n');
    expect(run).toMatchObject({ name: 'RUN', heredoc: '<<EOF', line: 2 });
    expect(cmd).toMatchObject({ name: 'CMD', line: 5 });
    const two = readInstructions('FROM a\nCOPY <<one <<"two" /x/\nFROM b\none\nFROM c\ntwo\nCMD x\n');
    expect(two.map(({ name, line }) => [name, line])).toEqual([
      ['FROM', 1],
      ['COPY', 2],
      ['CMD', 7],
    ]);
    const shifted = readInstructions('FROM a\nRUN echo $((1 << n))\nCMD x\n');
    expect(shifted.map(({ name, heredoc }) => [name, heredoc])).toEqual([
      ['FROM', ''],
      ['RUN', ''],
      ['CMD', ''],
    ]);
  });
});

describe('images that are needed', () => {
  it('are those of the stages up to the target, each once, and no stages', () => {
    const text = [
      'ARG VERSION=20',
      'FROM --platform=$BUILDPLATFORM node:${VERSION} AS build',
      'COPY --from=registry.example.com/tools:1 --chown=a /x /y',
      'RUN --mount=type=bind,from=cache/image,target=/c true',
      'FROM scratch AS empty',
      'FROM build AS test',
      'FROM node:${VERSION}-slim',
      'COPY --from=build /app /app',
      'COPY --from=0 /app /app',
    ].join('\n');
    const first = ['2 node:20', '2 registry.example.com/tools:1', '2 cache/image'];
    expect(needed(text)).toEqual([...first, '7 node:20-slim']);
    expect(needed(text, 'test', { VERSION: '24' })).toEqual(['2 node:24', ...first.slice(1)]);
    expect(needed(text, '1')).toEqual(first);
  });

  it.each([
    ['${A:-none}', 'none'],
    ['${A-none}', 'none'],
    ['${SET:+x}${SET}', 'xs'],
    ['${EMPTY:-none}', 'none'],
    ['${EMPTY-none}z', 'z'],
    ['$SET/${__proto__}y', 's/y'],
  ])('with the variable %s', (base, image) => {
    expect(needed(`ARG SET=s\nARG EMPTY=\nFROM ${base}`)).toEqual([`3 ${image}`]);
  });
});

describe('the plan', () => {
  it('of a source that is nothing else is that of its Dockerfile', async () => {
    const plan = await planOf({ Dockerfile: 'FROM a:1 AS x\nENTRYPOINT ["run"]\nFROM x\nCMD ["--port", "80"]\n' });
    expect(plan).toMatchObject({
      platform: 'dockerfile',
      image: { file: 'Dockerfile', target: '', ownCommand: true },
      processes: { web: { command: '["--port", "80"]', from: 'CMD in Dockerfile line 4' } },
      problems: [],
    });
    expect(plan.notes).toContain('Begins with a:1');
  });

  it('comes after a package that is recognised, which says so, and before a page', async () => {
    const files = { 'package.json': '{"scripts":{"start":"node ."}}', Dockerfile: 'FROM a' };
    const plan = await planOf(files);
    expect(plan.platform).toBe('nodejs');
    expect(plan.notes.join('\n')).toContain('tancho app update shop --platform dockerfile');
    expect((await planOf(files, 'dockerfile')).platform).toBe('dockerfile');
    expect((await planOf({ 'index.html': 'x', Dockerfile: 'FROM a' })).platform).toBe('dockerfile');
  });

  it('takes file, target and arguments of tancho.yaml, and processes of the Procfile', async () => {
    const plan = await planOf(
      {
        'deploy/Dockerfile': 'ARG V=1\nFROM a:$V AS one\nFROM b AS two\n',
        'tancho.yaml': 'dockerfile: { file: deploy/Dockerfile, target: one, args: V=2 }\n',
        Procfile: 'web: serve --port $PORT\nworker: work\n',
      },
      'dockerfile',
    );
    expect(plan.image).toMatchObject({ file: 'deploy/Dockerfile', target: 'one', args: { V: '2' }, ownCommand: false });
    expect(Object.keys(plan.processes)).toEqual(['web', 'worker']);
    expect(plan.notes).toContain('Begins with a:2');
    expect(plan.problems).toEqual([]);
  });

  it('needs a newer buildah for a here-document, and says which line does', async () => {
    const files = { Dockerfile: 'FROM a\nRUN <<X\ny\nX\n' };
    const { tools, problems } = await planOf(files, 'dockerfile');
    expect(problems).toEqual([]);
    const message = expect.stringContaining('Dockerfile line 2 has a here-document (<<X)') as string;
    expect(tools).toMatchObject([{ program: 'buildah', minimum: '1.35.0', neededFor: { message } }]);
    expect((await planOf({ Dockerfile: 'FROM a' }, 'dockerfile')).tools[0]?.neededFor).toBeUndefined();
  });

  it('knows what cannot be built before anything is fetched', async () => {
    expect(await problemsOf({ Dockerfile: 'RUN x' })).toEqual([expect.stringContaining('has no FROM')]);
    expect(await problemsOf({ Dockerfile: 'FROM ../x' })).toEqual([
      expect.stringContaining('Dockerfile line 1: "../x"'),
    ]);
    const yaml = (options: string) => ({ 'tancho.yaml': `dockerfile: { ${options} }`, Dockerfile: 'FROM a AS one' });
    expect(await problemsOf(yaml('target: two'))).toEqual(['Dockerfile has no stage called two.']);
    expect(await problemsOf(yaml('file: other/Dockerfile'))).toEqual(['There is no other/Dockerfile in the source.']);
    expect(await problemsOf(yaml('file: ../../etc/passwd'))).toEqual(['There is no ../../etc/passwd in the source.']);
    expect(await problemsOf(yaml('args: what'))).toEqual([expect.stringContaining('no list of NAME=value')]);
  });
});
