/** Stores for their conformance suite, which may be opened again. */
import type { Store } from '../../../domain/store.ts';
import { SILENT } from '../../../lib/logger.ts';
import { newSealKey, Sealer } from '../../../lib/seal.ts';
import type { StoreUnderTest } from '../testing/case.ts';
import { createSqlStore } from './index.ts';
import type { SqlStoreOptions } from './index.ts';

const deps = { sealer: new Sealer([newSealKey()]), logger: SILENT };

/** `clean` is called when everything is closed. */
export async function storeUnderTest(options: SqlStoreOptions, clean: () => Promise<void>): Promise<StoreUnderTest> {
  const open: Store[] = [];
  const again = async (): Promise<Store> => {
    const store = await createSqlStore(options, deps);
    open.push(store);
    return store;
  };
  const dispose = async (): Promise<void> => {
    for (const store of open) await store.close();
    await clean();
  };
  return { store: await again(), again, dispose };
}
