/**
 * Keeps a process small until somebody wants something of it. Loading a program, and whatever goes on by itself, makes V8 compile it
 * for speed sooner or later: that brings megabytes of compilers into memory for nothing, and lets the young generation grow to many times
 * its size, which V8 seldom takes back.
 */
import { setFlagsFromString } from 'node:v8';

const SMALL = ['--no-opt', '--no-maglev', '--semi-space-growth-factor=1'];
const USUAL = ['--opt', '--maglev', '--semi-space-growth-factor=2'];

let isSmall = false;

/** From here on, until speedUp(). To be called before anything large is loaded. */
export function staySmall(): void {
  isSmall = true;
  SMALL.forEach((flag) => setFlagsFromString(flag));
}

/** With the first client, with the first output of an app, and before any long work. Costs nothing when it was called before. */
export function speedUp(): void {
  if (!isSmall) return;
  isSmall = false;
  USUAL.forEach((flag) => setFlagsFromString(flag));
}
