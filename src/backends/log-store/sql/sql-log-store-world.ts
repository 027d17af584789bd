/** Log stores for their conformance suite, which may be opened again. */
import type { LogStore } from '../../../domain/logs/log-store.ts';
import { SILENT } from '../../../lib/logger.ts';
import type { LogStoreUnderTest } from '../testing/case.ts';
import { createSqlLogStore } from './index.ts';
import type { SqlLogStoreOptions } from './index.ts';

/** `clean` is called when everything is closed. */
export async function logStoreUnderTest(
  options: SqlLogStoreOptions,
  clean: () => Promise<void>,
): Promise<LogStoreUnderTest> {
  const open: LogStore[] = [];
  const again = async (): Promise<LogStore> => {
    const store = await createSqlLogStore(options, { logger: SILENT });
    open.push(store);
    return store;
  };
  const dispose = async (): Promise<void> => {
    for (const store of open) await store.close();
    await clean();
  };
  return { store: await again(), again, dispose };
}
