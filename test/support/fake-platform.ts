/** A platform whose steps are quick standard programs, to test what the builder does around them. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const PLATFORM = `
description: for tests
example: ./run
detect: [app.txt]
facts:
  has-packages: { file: packages.txt }
  compiles: { file: compile.txt }
tools:
  - program: cp
    install: { apt-get: apt-get install -y coreutils }
    versions:
      wanted: { file: app.json, key: engines.cp }
      available: [echo, '["1.0.0", "97.1.0", "97.2.0", "98.0.0"]']
      files: { note.txt: written first }
      install: [mkdir, -p, '{directory}/bin/{version}']
      bin: bin
  - program: no-such-program
    when: { file: needs-more.txt }
    install: { apt-get: apt-get install -y no-such-package }
  - program: nowhere
    when: { file: bring.txt }
    install: { apt-get: apt-get install -y nowhere }
    versions:
      wanted: { file: app.json, key: packager, prefix: nowhere@ }
      otherwise: '97'
      available: [echo, '["97.1.0", "97.2.0", "98.0.0"]']
      install: [mkdir, -p, '{directory}/bin/{version}']
      bin: bin
  - program: git
    when: { file: wanted.txt }
    install: { apt-get: apt-get install -y git }
    asked: [{ file: wanted.txt, matches: '^([^#].*)' }]
    others: [no-such-git, node]
shared-tools:
  - name: shared
    per: cp
    steps: [[mkdir, '{directory}/made']]
environment:
  - { name: FLAVOUR, value: vanilla }
  - { name: ONLY_BUILD, value: yes, scope: build }
  - { name: LAYER, value: '{layer}' }
dependencies:
  - name: packages
    when: has-packages
    restored: packages
    never-kept: { file: never.txt }
    key: { files: [packages.txt], json: { app.json: [packages] } }
    steps:
      - { name: install packages, run: [cp, -R, vendor, packages] }
  - name: layer
    when: { file: layer.txt }
    layer: true
    key: { files: [layer.txt] }
    steps:
      - { name: make the layer, run: [cp, layer.txt, '{layer}/made.txt'] }
      - { name: use what is shared, run: [cp, -R, '{shared}/made', '{layer}/shared'] }
steps:
  - { name: compile, when: compiles, run: [cp, compile.txt, compiled.txt] }
notes:
  - { text: compiling is slow, when: compiles }
processes:
  - { name: web, when: { file: default.txt }, command: './start {app}' }
`;

/** Writes `fake/platform.yaml` below the directory and returns the directory. */
export async function fakePlatforms(directory: string): Promise<string> {
  await mkdir(join(directory, 'fake'), { recursive: true });
  await writeFile(join(directory, 'fake', 'platform.yaml'), PLATFORM);
  return directory;
}
