/**
 * The keeper: looks after the units and the edge while control is away. Started when control ends (lib/upon-end.ts), as
 * `node main.js '<settings as JSON>' <program of the edge> '<options of the edge as JSON>' [<how many have died before it>]`; ends when control is back.
 * A control that comes back at once has the machine for itself: until it is sure that none does, next to nothing is loaded here.
 */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isControlThere } from '../lib/keeper-claim.ts';
import { uponEnd } from '../lib/upon-end.ts';
import { parseSettings } from './keeper-settings.ts';

/** Of the command: Node, program, settings, program of the edge, its options. */
const COMMAND_WORDS = 5;
const ALONE_MS = 250;
const LOOK_MS = 25;
/** For each that has died before it twice as long. */
const LONGEST_MS = 10_000;

const control = join(parseSettings(process.argv[2]).home, 'run', 'control.pid');
const died = Number(process.argv[COMMAND_WORDS]) || 0;
// This one may be killed, too.
const next = await uponEnd([...process.argv.slice(0, COMMAND_WORDS), `${died + 1}`], process.stderr.fd);
const end = performance.now() + Math.min(ALONE_MS * 2 ** died, LONGEST_MS);
let isAlone = !(await isControlThere({ control }));
while (isAlone && performance.now() < end) {
  await delay(LOOK_MS);
  isAlone = !(await isControlThere({ control }));
}
if (isAlone) {
  const { runKeeper } = await import('./run.ts');
  await runKeeper();
}
next?.cancel();
process.exit(0);
