/** How much of what a test repeats: a run takes what shows a fault of each kind, TANCHO_TEST_ROUNDS=all all there is. */
export const ALL_ROUNDS = process.env['TANCHO_TEST_ROUNDS'] === 'all';

export function rounds(few: number, all: number): number {
  return ALL_ROUNDS ? all : few;
}

/** Of a table, `isOne` picks what is taken in every run. */
export function ofRounds<T>(all: readonly T[], isOne: (item: T, index: number) => boolean): readonly T[] {
  return ALL_ROUNDS ? all : all.filter(isOne);
}
