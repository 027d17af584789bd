/** Where a long operation says what it does, one line for people at a time. */
export type Say = (line: string) => void;
