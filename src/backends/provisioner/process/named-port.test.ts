import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { namedPort } from './named-port.ts';

const directories: string[] = [];
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

function codeOf(files: Readonly<Record<string, string>>): string {
  const directory = mkdtempSync(join(tmpdir(), 'tancho-code-'));
  directories.push(directory);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
  return directory;
}

it.each([
  ['app.js', "const app = express();\n\napp.listen(3000, () => console.log('up'));\n", 'app.js line 3'],
  ['src/server.ts', 'const port = 3000;\n', 'src/server.ts line 1'],
  ['package.json', '{\n  "scripts": { "start": "next start -p 3000" }\n}', 'package.json line 2'],
  ['Procfile', 'web: gunicorn -b 0.0.0.0:3000 app:app\n', 'Procfile line 1'],
  ['main.go', 'package main\n\nfunc main() {\n\thttp.ListenAndServe(":3000", nil)\n}\n', 'main.go line 4'],
  ['app/main.py', 'import x\nuvicorn.run(app, port=3000)\n', 'app/main.py line 2'],
  ['src/main/resources/application.yml', 'server:\n  port: 3000\n', 'src/main/resources/application.yml line 2'],
])('finds it in %s', async (path, text, expected) => {
  expect(await namedPort(codeOf({ [path]: text }), 3000)).toBe(expected);
});

it.each([
  ['of which it is only a part', { 'app.js': 'app.listen(13000); app.listen(30001); app.listen(1.3000)' }],
  ['that nothing listens on', { 'app.js': 'setTimeout(load, 3000);' }],
  ['in a comment', { 'app.js': '// listen on 3000\n' }],
  [
    'of packages, tests and texts',
    { 'node_modules/x/a.js': 'listen(3000)', 'a.test.js': 'listen(3000)', 'a.md': '3000' },
  ],
])('takes no number %s', async (_, files) => {
  expect(await namedPort(codeOf(files), 3000)).toBeNull();
});

it('looks at who starts the app first, and at nothing outside', async () => {
  const code = codeOf({ 'app.js': 'listen(3000)', Procfile: 'web: serve -p 3000\n' });
  expect(await namedPort(code, 3000)).toBe('Procfile line 1');
  const outside = codeOf({ 'app.js': 'listen(4000)' });
  symlinkSync(join(outside, 'app.js'), join(code, 'b.js'));
  symlinkSync(outside, join(code, 'linked'));
  expect(await namedPort(code, 4000)).toBeNull();
});
