#!/usr/bin/env node
import { existsSync } from 'node:fs';

const main = new URL('../dist/main.js', import.meta.url);
if (existsSync(main)) {
  await import(main.href);
} else {
  process.stderr.write(
    'Error: Tancho is not built yet.\n  Hint: npm start builds and starts it; npm ci && npm run build only builds.\n',
  );
  process.exit(1);
}
