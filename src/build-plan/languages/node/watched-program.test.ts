import { expect, it } from 'vitest';
import { watchedProgram } from './watched-program.ts';

it.each([
  ['nodemon -L src/index.js', 'node src/index.js'],
  ['nodemon ./server.mjs', 'node ./server.mjs'],
  ['NODE_ENV=development npx nodemon app.js', 'node app.js'],
  ['node --watch src/index.js', 'node src/index.js'],
  ['tsx watch src/index.ts', 'tsx src/index.ts'],
])('%s', (script, command) => {
  expect(watchedProgram(script)?.command).toBe(command);
});

it.each([
  '',
  'nodemon',
  'node src/index.js',
  'tsx src/index.ts',
  'nodemon src/index.ts',
  'nodemon --exec ts-node src/index.js',
  'nodemon --watch other.js src/index.js',
  'nodemon src/index.js --port 3000',
  'nodemon src/index.js & vite',
  'nodemon "src/index.js"',
  'constructor src/index.js',
  `nodemon ${'a'.repeat(2_000)}.js`,
])('says nothing of what is not one program: %s', (script) => {
  expect(watchedProgram(script)).toBeNull();
});
