/**
 * The third of the corpus that fetches nothing is pushed to a real platform: of the main ways in which an app starts or fails one each, all that start
 * with what takes long, and in all rounds those that fail by their plan, too; pushed-*.long.test.ts push the rest.
 */
import { describe, expect, it } from 'vitest';
import { CONVENTIONS } from './pushed/convention-apps.ts';
import { FRAMEWORKS } from './pushed/framework-apps.ts';
import { PACKAGE_MANAGERS, PACKAGE_TRAPS } from './pushed/node-apps.ts';
import { GO_APPS, JAVA_APPS, RUST_APPS, SCRIPTED_APPS } from './pushed/other-apps.ts';
import { pushAll } from './pushed/push-apps.ts';
import { PYTHON_APPS, PYTHON_TRAPS } from './pushed/python-apps.ts';
import { MORE_STARTS, QUICK_STARTS, QUICK_TRAPS } from './pushed/quick-apps.ts';
import { ALL_ROUNDS } from '../support/rounds.ts';
import { SLOW } from '../support/slow.ts';

const QUICK = { ...QUICK_STARTS, ...QUICK_TRAPS, ...CONVENTIONS };
/** One for each thing that only a push can show; how the others are read is tested with plans. */
const FIRST = new Set([
  'a server.js and nothing else',
  'a Procfile with a release, a worker and a task',
  'pages with their style',
  'a release that fails',
  'a server that ends',
  'a page that needs a build',
  'a worker that fails in the first version',
]);
/** Of the first ones, what only longer runs push: how they fail is shown by others, too. */
const SLOW_ONLY = new Set(['a page that needs a build', 'a worker that fails in the first version']);
const LONG = [
  ...[PACKAGE_MANAGERS, PACKAGE_TRAPS, FRAMEWORKS, PYTHON_APPS, PYTHON_TRAPS],
  ...[GO_APPS, RUST_APPS, JAVA_APPS, SCRIPTED_APPS, MORE_STARTS],
].flatMap((apps) => Object.values(apps));

it('at least 60 apps are pushed, a third of them quickly, each with its true page or its exact cause', () => {
  const all = [...Object.values(QUICK), ...LONG];
  expect(all.length).toBeGreaterThanOrEqual(60);
  expect(Object.keys(QUICK).length * 3).toBeGreaterThanOrEqual(all.length);
  for (const { pages, fails } of all) expect([pages, fails].filter((each) => each !== undefined)).toHaveLength(1);
});

it('the first ones are among them', () => {
  expect([...FIRST].filter((title) => !Object.hasOwn(QUICK, title))).toEqual([]);
});

const first = Object.fromEntries(
  Object.entries(QUICK).filter(([title]) => FIRST.has(title) && (SLOW || !SLOW_ONLY.has(title))),
);
const starting = SLOW ? { ...QUICK_STARTS, ...CONVENTIONS } : {};

describe('pushed', () => pushAll(ALL_ROUNDS ? QUICK : { ...starting, ...first }));
