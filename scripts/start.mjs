/** `npm start`: makes a clone ready, then becomes the server (in this very process). */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { alone, checkTools, ensureBuilt, ensureInstalled, isPrepared, root, reportAndExit } from './prepare.mjs';

try {
  checkTools();
  if (!isPrepared()) {
    await alone(async () => {
      await ensureInstalled();
      await ensureBuilt();
    });
  }
} catch (error) {
  reportAndExit(error);
}

const main = join(root, 'dist', 'main.js');
process.argv = [process.execPath, main, 'server', '--welcome', ...process.argv.slice(2)];
await import(pathToFileURL(main).href);
