/** A source tree to look into: a directory, a commit, a test's own. Paths are relative to its top, with slashes; '' is the top. */
export interface SourceReader {
  /** Links are followed inside the tree. Null: nothing is there, or it lies outside. */
  kind(path: string): Promise<'file' | 'directory' | null>;
  /** What is directly inside; null when there is no such directory. */
  list(path: string): Promise<readonly SourceEntry[] | null>;
  /** What a file begins with, at most `most` bytes, and how large it is; null when there is no such file. */
  read(path: string, most: number): Promise<{ readonly bytes: Uint8Array; readonly size: number } | null>;
}

export interface SourceEntry {
  readonly name: string;
  /** Null: only kind() knows, as of a link. */
  readonly kind: 'file' | 'directory' | null;
}
