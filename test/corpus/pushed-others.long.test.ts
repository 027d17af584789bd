/** Apps of the corpus in Go, Rust, Java, PHP and Ruby, and more that fetch nothing. */
import { describe } from 'vitest';
import { GO_APPS, JAVA_APPS, RUST_APPS, SCRIPTED_APPS } from './pushed/other-apps.ts';
import { pushAll } from './pushed/push-apps.ts';
import { MORE_STARTS } from './pushed/quick-apps.ts';

describe('pushed', () => pushAll({ ...GO_APPS, ...RUST_APPS, ...JAVA_APPS, ...SCRIPTED_APPS, ...MORE_STARTS }));
