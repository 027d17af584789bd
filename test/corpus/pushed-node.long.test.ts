/** Apps of the corpus for Node, Bun and Deno, with packages of the registry. */
import { describe } from 'vitest';
import { FRAMEWORKS } from './pushed/framework-apps.ts';
import { PACKAGE_MANAGERS, PACKAGE_TRAPS } from './pushed/node-apps.ts';
import { pushAll } from './pushed/push-apps.ts';

describe('pushed', () => pushAll({ ...PACKAGE_MANAGERS, ...PACKAGE_TRAPS, ...FRAMEWORKS }));
