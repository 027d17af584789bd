/** Letters that no mail server takes, for operators to pass on. Their texts are sealed: who reads one may take over an account. */
export interface LetterReader {
  /** Names of those that are kept, oldest first. */
  letterNames(): Promise<string[]>;
  letter(name: string): Promise<string | null>;
}

export interface LetterWriter {
  /** Names sort by time. Of more than `kept` the oldest go. */
  insertLetter(letter: { readonly name: string; readonly text: string }, kept: number): Promise<void>;
}
