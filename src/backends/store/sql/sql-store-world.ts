/** Stores for their conformance suite, which may be opened again. */
import { COPY_SEALER } from '../../../../test/support/empty-databases.ts';
import { openedAgain } from '../../../../test/support/opened-again.ts';
import { SILENT } from '../../../lib/logger.ts';
import type { StoreUnderTest } from '../testing/case.ts';
import { createSqlStore } from './index.ts';
import type { SqlStoreOptions } from './index.ts';

const deps = { sealer: COPY_SEALER, logger: SILENT };

/** `clean` is called when everything is closed. */
export function storeUnderTest(options: SqlStoreOptions, clean: () => Promise<void>): Promise<StoreUnderTest> {
  return openedAgain(() => createSqlStore(options, deps), clean);
}
