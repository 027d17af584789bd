/** Stores for their conformance suite, which may be opened again. */
import { openedAgain } from '../../../../test/support/opened-again.ts';
import { SILENT } from '../../../lib/logger.ts';
import { newSealKey, Sealer } from '../../../lib/seal.ts';
import type { StoreUnderTest } from '../testing/case.ts';
import { createSqlStore } from './index.ts';
import type { SqlStoreOptions } from './index.ts';

const deps = { sealer: new Sealer([newSealKey()]), logger: SILENT };

/** `clean` is called when everything is closed. */
export function storeUnderTest(options: SqlStoreOptions, clean: () => Promise<void>): Promise<StoreUnderTest> {
  return openedAgain(() => createSqlStore(options, deps), clean);
}
