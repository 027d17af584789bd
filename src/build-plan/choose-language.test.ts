import { describe, expect, it } from 'vitest';
import { sourceOf } from '../../test/support/memory-source.ts';
import { AUTO_PLATFORM } from '../domain/platforms/platform.ts';
import { checkSource, chooseLanguages } from './choose-language.ts';
import { LANGUAGES } from './languages/built-in.ts';
import { planSource } from './plan-source.ts';

async function choose(platform: string, files: Record<string, string>, web?: string): Promise<string> {
  const settings = { startCommands: web === undefined ? {} : { web } };
  const request = { app: 'shop', platform, languages: LANGUAGES, files: sourceOf(files), settings };
  const [language] = await chooseLanguages(request);
  await checkSource(language, request);
  return language.name;
}

describe('the platform of an app', () => {
  it.each([
    ['nodejs', { 'package.json': '{}' }],
    ['python', { 'requirements.txt': '', 'package.json': '{}' }],
    ['go', { 'go.mod': 'module x' }],
    ['static', { 'public/index.html': '' }],
  ])('%s accepts its own sources, and is found by itself', async (platform, files) => {
    expect(await choose(platform, files)).toBe(platform);
    expect(await choose(AUTO_PLATFORM, files)).toBe(platform);
  });

  it.each([
    ['go', { 'go.mod': '', 'main.go': '', 'package.json': '{}', 'index.html': '' }],
    ['python', { 'go.mod': 'tool golang.org/x/tools/cmd/stringer', 'requirements.txt': '' }],
    ['nodejs', { 'package.json': '{}', 'app.py': '', 'index.html': '' }],
    ['python', { 'manage.py': '', 'index.html': '' }],
  ])('is %s where manifests say so, whatever else is there', async (platform, files) => {
    expect(await choose(AUTO_PLATFORM, files)).toBe(platform);
  });

  it.each([
    ['python', { Procfile: 'web: python3 -u web.py\n', 'web.py': '' }],
    ['nodejs', { Procfile: 'worker: node --enable-source-maps src/bot.mjs\n', 'src/bot.mjs': '' }],
    ['ruby', { 'tancho.yaml': 'processes:\n  web: ruby till.rb\n', 'till.rb': '', 'index.html': '' }],
    ['deno', { Procfile: 'web: deno run -A till.ts\n', 'till.ts': '' }],
  ])('is %s where a command of the source starts a file of it', async (platform, files) => {
    expect(await choose(AUTO_PLATFORM, files)).toBe(platform);
    expect(await choose(platform, files)).toBe(platform);
  });

  it('is what a command starts that is set on the app, where that file is there', async () => {
    expect(await choose(AUTO_PLATFORM, { 'till.py': '' }, 'python till.py')).toBe('python');
    await expect(choose('python', { 'other.py': '' }, 'python till.py')).rejects.toMatchObject({ code: 'no_platform' });
  });

  it('names both platforms and the command when the source is of another one', async () => {
    await expect(choose('nodejs', { 'requirements.txt': 'flask' })).rejects.toMatchObject({
      code: 'no_platform',
      message: expect.stringMatching(
        /of the platform nodejs, but the source looks like python \(it has requirements.txt\)/,
      ) as string,
      hint: 'Change the app and push again: tancho app update shop --platform python',
    });
  });

  it('says what it looked for when the source is of none', async () => {
    await expect(choose('nodejs', { 'README.md': '' })).rejects.toThrow(
      /has none of: package.json, server.js, index.js, app.js/,
    );
    await expect(choose(AUTO_PLATFORM, { 'notes.txt': '' })).rejects.toMatchObject({
      message: 'What the app shop is written in is not recognised.',
      hint: expect.stringContaining('go: go.mod, go.work, *.go; rust: Cargo.toml; java: pom.xml') as string,
    });
  });

  it.each([{}, { 'README.md': '', LICENSE: '', '.gitignore': '' }])(
    'says that there is no code in %j',
    async (files) => {
      await expect(choose(AUTO_PLATFORM, files)).rejects.toMatchObject({
        message: 'The app shop has no code yet.',
        hint: expect.stringContaining('git add -A, git commit') as string,
      });
    },
  );

  it.each([
    ['Elixir', 'mix.exs', { 'mix.exs': '', 'assets/package.json': '{}' }],
    ['.NET', 'Shop.csproj', { 'Shop.csproj': '' }],
    ['Jekyll', '_config.yml', { '_config.yml': '', '_posts/a.md': '' }],
  ])('names %s, for which there is none', async (name, file, files) => {
    await expect(choose(AUTO_PLATFORM, files)).rejects.toMatchObject({
      code: 'no_platform',
      message: `The app shop is written in ${name} (it has ${file}), for which there is no platform here.`,
      hint: 'Add a Dockerfile that builds and starts it, commit and push again.',
    });
    expect(await choose(AUTO_PLATFORM, { ...files, Dockerfile: 'FROM scratch' })).toBe('dockerfile');
  });

  it('says where the packages of conda are to be named', async () => {
    await expect(choose(AUTO_PLATFORM, { 'environment.yml': '', 'index.ipynb': '' })).rejects.toMatchObject({
      message: expect.stringContaining('written in Python with conda (it has environment.yml)') as string,
      hint: expect.stringMatching(/^Name its packages in requirements\.txt/) as string,
    });
  });

  it('names apps in directories rather than a program beside them for which there is no platform', async () => {
    const files = { 'worker/Worker.csproj': '', 'vote/requirements.txt': '', 'result/package.json': '{}' };
    await expect(choose(AUTO_PLATFORM, files)).rejects.toMatchObject({
      message: expect.stringMatching(/There are result\/package\.json and vote\/requirements\.txt/) as string,
    });
    await expect(choose(AUTO_PLATFORM, { 'worker/Worker.csproj': '' })).rejects.toThrow('written in .NET');
  });

  it('says how to deploy the directory in which the app lies', async () => {
    await expect(choose('nodejs', { 'README.md': '', 'api/package.json': '{}' })).rejects.toMatchObject({
      message: expect.stringMatching(/There is api\/package\.json, but the app must lie at the top\./) as string,
      hint: 'Make that directory the app and push again: tancho app update shop --root api',
    });
  });

  it('says how to build by a Dockerfile that lies apart, and copies from the top', async () => {
    const apart = { 'lib/shop.ex': '', 'docker/Dockerfile': 'FROM a\nCOPY lib lib', 'docker/entrypoint.sh': '' };
    await expect(choose(AUTO_PLATFORM, apart)).rejects.toMatchObject({
      message: expect.stringMatching(/There is docker\/Dockerfile, which is not at the top\.$/) as string,
      hint: 'Name it in a file tancho.yaml at the top, as "dockerfile: { file: docker/Dockerfile }", commit and push again after: tancho app update shop --platform dockerfile',
    });
    const named = { ...apart, 'tancho.yaml': 'dockerfile: { file: docker/Dockerfile }\n' };
    const request = { app: 'shop', platform: 'dockerfile', languages: LANGUAGES, files: sourceOf(named) };
    expect((await planSource(request)).plan).toMatchObject({ problems: [], image: { file: 'docker/Dockerfile' } });
    await expect(choose(AUTO_PLATFORM, { 'api/Dockerfile': '', 'api/shop.ex': '' })).rejects.toMatchObject({
      hint: expect.stringContaining('--root api') as string,
    });
  });

  it('names several that lie in directories, also those of directories', async () => {
    const files = {
      'README.md': '',
      'web/package.json': '{}',
      'services/api/go.mod': '',
      'node_modules/x/package.json': '',
    };
    await expect(choose(AUTO_PLATFORM, files)).rejects.toMatchObject({
      message: expect.stringMatching(/There are web\/package\.json and services\/api\/go\.mod, but the app/) as string,
      hint: 'Make one directory the app and push again: tancho app update shop --root web   (or services/api)',
    });
  });

  it('says which platforms there are', async () => {
    await expect(choose('cobol', {})).rejects.toMatchObject({
      hint: 'Platforms of this server: deno, dockerfile, go, hugo, java, nodejs, php, python, ruby, rust, static.',
    });
  });
});
