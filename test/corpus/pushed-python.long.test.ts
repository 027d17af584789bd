/** Apps of the corpus in Python. */
import { describe } from 'vitest';
import { pushAll } from './pushed/push-apps.ts';
import { PYTHON_APPS, PYTHON_TRAPS } from './pushed/python-apps.ts';

describe('pushed', () => pushAll({ ...PYTHON_APPS, ...PYTHON_TRAPS }));
