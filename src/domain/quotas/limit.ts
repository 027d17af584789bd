/** Null: as many as anybody likes. */
export type Limit = number | null;
