/** The third of the corpus that fetches nothing is pushed to a real platform; pushed-*.long.test.ts push the rest. */
import { describe, expect, it } from 'vitest';
import { CONVENTIONS } from './pushed/convention-apps.ts';
import { FRAMEWORKS } from './pushed/framework-apps.ts';
import { PACKAGE_MANAGERS, PACKAGE_TRAPS } from './pushed/node-apps.ts';
import { GO_APPS, JAVA_APPS, RUST_APPS, SCRIPTED_APPS } from './pushed/other-apps.ts';
import { pushAll } from './pushed/push-apps.ts';
import { PYTHON_APPS, PYTHON_TRAPS } from './pushed/python-apps.ts';
import { MORE_STARTS, QUICK_STARTS, QUICK_TRAPS } from './pushed/quick-apps.ts';

const QUICK = { ...QUICK_STARTS, ...QUICK_TRAPS, ...CONVENTIONS };
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

describe('pushed', () => pushAll(QUICK));
