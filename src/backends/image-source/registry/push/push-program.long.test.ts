import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { Parser } from 'tar';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ImageRegistry } from '../../../../../test/support/image-registry.ts';
import { Failure } from '../../../../domain/failure.ts';
import { pushProgram } from './push-program.ts';

const FILES: Readonly<Record<string, string>> = {
  'package.json': '{"version":"1.2.3"}',
  LICENSE: 'free',
  'package-lock.json': JSON.stringify({
    packages: {
      '': {},
      'node_modules/kept': {},
      'node_modules/@scope/kept': { optional: true },
      'node_modules/kept/node_modules/below': {},
      'node_modules/other-machine': { optional: true },
      'node_modules/builder': { dev: true },
    },
  }),
  'bin/tancho': '#!/bin/sh\n',
  'dist/main.js': 'main',
  'dist/cli/x.js': 'x',
  'platforms/node/a': 'a',
  'scripts/node': '#!/bin/sh\n',
  'examples/a/b': 'b',
  'src/main.ts': 'not in it',
  '.git/HEAD': 'not in it',
  'node_modules/kept/index.js': 'kept',
  'node_modules/kept/node_modules/below/index.js': 'below',
  'node_modules/@scope/kept/index.js': 'scoped',
  'node_modules/builder/index.js': 'not in it',
};

let program: string;
let registry: ImageRegistry;
beforeAll(async () => {
  program = await mkdtemp(join(tmpdir(), 'tancho-program-'));
  for (const [name, text] of Object.entries(FILES)) {
    await mkdir(dirname(join(program, name)), { recursive: true });
    await writeFile(join(program, name), text);
  }
  registry = await ImageRegistry.start();
  const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';
  const layers = [[{ path: 'bin/git', data: 'git', mode: 0o755 }]];
  registry.addImage('base', '1', { architecture, layers, config: { Env: ['PATH=/bin', 'OF_BASE=yes'] } });
});
afterAll(async () => {
  await registry.close();
  await rm(program, { recursive: true });
});

const push = (base: string): Promise<string> =>
  pushProgram({
    ...{ host: registry.host, repository: 'platform/tancho', tag: '7', login: null, isInsecure: false },
    ...{ base: `${registry.host}/${base}`, program, say: () => {} },
  });

const answer = async (path: string): Promise<Buffer> => {
  const response = await fetch(`http://${registry.host}/v2/platform/tancho/${path}`);
  expect(response.status, path).toBe(200);
  return Buffer.from(await response.arrayBuffer());
};

async function filesOf(layer: Buffer): Promise<string[]> {
  const names: string[] = [];
  const parser = new Parser({
    onReadEntry(entry) {
      if (entry.type === 'File') names.push(entry.path);
      entry.resume();
    },
  });
  await new Promise<void>((resolve) => {
    parser.on('end', () => resolve());
    parser.end(zstdDecompressSync(layer));
  });
  return names.sort();
}

it('is a base with the program, its Node and what it needs of other packages, and nothing else', async () => {
  const name = await push('base:1');
  expect(name).toMatch(new RegExp(`^${registry.host}/platform/tancho:7@sha256:[0-9a-f]{64}$`));
  const manifest = JSON.parse((await answer('manifests/7')).toString()) as {
    config: { digest: string };
    layers: { digest: string }[];
  };
  const config = JSON.parse((await answer(`blobs/${manifest.config.digest}`)).toString()) as {
    config: { Env: string[]; Entrypoint: string[]; User: string };
  };
  expect(config.config.Entrypoint.join(' ')).toContain('exec tancho server');
  expect(config.config.User).toBe('1000:1000');
  expect(config.config.Env).toEqual(expect.arrayContaining(['OF_BASE=yes', 'PATH=/opt/tancho/bin:/bin']));
  const [, node, packages, own] = await Promise.all(manifest.layers.map(({ digest }) => answer(`blobs/${digest}`)));
  if (node === undefined || packages === undefined || own === undefined) throw new Error('a layer is missing');
  expect(await filesOf(node)).toEqual(['opt/tancho/.runtime/node']);
  expect(await filesOf(packages)).toEqual([
    'opt/tancho/node_modules/@scope/kept/index.js',
    'opt/tancho/node_modules/kept/index.js',
    'opt/tancho/node_modules/kept/node_modules/below/index.js',
  ]);
  const of = ['LICENSE', 'bin/tancho', 'dist/cli/x.js', 'dist/main.js', 'examples/a/b', 'package.json'];
  const more = ['platforms/node/a', 'scripts/node'];
  expect(await filesOf(own)).toEqual([...of, ...more].map((file) => `opt/tancho/${file}`));
});

it('says what is wrong with a base that is not there', async () => {
  await expect(push('none:1')).rejects.toThrow(Failure);
});
