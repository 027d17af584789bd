/** `npm run build` compiles everything into dist/; `npm run check`, with --check, only checks the types. */
import { buildAll, checkTypes, reportAndExit } from './prepare.mjs';

try {
  await (process.argv.includes('--check') ? checkTypes() : buildAll());
} catch (error) {
  reportAndExit(error);
}
