/** Log stores for their conformance suite, which may be opened again. */
import { openedAgain } from '../../../../test/support/opened-again.ts';
import { SILENT } from '../../../lib/logger.ts';
import type { LogStoreUnderTest } from '../testing/case.ts';
import { createSqlLogStore } from './index.ts';
import type { SqlLogStoreOptions } from './index.ts';

/** `clean` is called when everything is closed. */
export function logStoreUnderTest(options: SqlLogStoreOptions, clean: () => Promise<void>): Promise<LogStoreUnderTest> {
  return openedAgain(() => createSqlLogStore(options, { logger: SILENT }), clean);
}
