/** The next steps that failures suggest are taken: apps in other languages than JavaScript, sites and images. */
import { describe } from 'vitest';
import { COMPILED_ROWS } from './hints/compiled-rows.ts';
import { DOCKERFILE_ROWS } from './hints/dockerfile-rows.ts';
import { PYTHON_ROWS } from './hints/python-rows.ts';
import { SITE_ROWS } from './hints/site-rows.ts';
import { takeAll } from './hints/take-hints.ts';

describe('the hint of', () => takeAll({ ...PYTHON_ROWS, ...SITE_ROWS, ...DOCKERFILE_ROWS, ...COMPILED_ROWS }));
