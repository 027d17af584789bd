/** The next steps that failures suggest are taken: apps for Node with packages. */
import { describe } from 'vitest';
import { PACKAGE_ROWS } from './hints/package-rows.ts';
import { takeAll } from './hints/take-hints.ts';

describe('the hint of', () => takeAll(PACKAGE_ROWS));
