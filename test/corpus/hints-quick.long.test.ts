/** The next steps that failures suggest are taken: apps that fetch nothing. */
import { describe } from 'vitest';
import { PLAN_ROWS } from './hints/plan-rows.ts';
import { START_ROWS } from './hints/start-rows.ts';
import { takeAll } from './hints/take-hints.ts';
import { VOLUME_ROWS } from './hints/volume-rows.ts';

describe('the hint of', () => takeAll({ ...PLAN_ROWS, ...START_ROWS, ...VOLUME_ROWS }));
