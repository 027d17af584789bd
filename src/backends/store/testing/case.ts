import { expect } from 'vitest';
import type { ErrorCode } from '../../../domain/errors.ts';
import type { Store } from '../../../domain/store.ts';

export interface StoreUnderTest {
  readonly store: Store;
  /** Another store on the same data, as a second control process or one after a restart would have. */
  again(): Promise<Store>;
  /** Closes every store that was handed out. */
  dispose(): Promise<void>;
}

/** By title. */
export type StoreCases = Readonly<Record<string, (store: Store, under: StoreUnderTest) => Promise<void>>>;

export async function expectError(work: Promise<unknown>, code: ErrorCode): Promise<void> {
  await expect(work).rejects.toMatchObject({ name: 'PlatformError', code });
}
