/** Watches the files that bubblewrap's own process writes exit codes to: that process outlives whoever started it, and so do the files. */
import { type FSWatcher, watch } from 'node:fs';

/** `onNote` gets the name of a file in the directory that was written to. Never called where the machine has no watches left. Answers what ends it. */
export function watchNotes(directory: string, onNote: (file: string) => void): () => void {
  let watcher: FSWatcher;
  try {
    watcher = watch(directory, { persistent: false }, (event, file) => {
      if (event === 'change' && file !== null) onNote(file);
    });
  } catch {
    return () => undefined;
  }
  watcher.on('error', () => watcher.close());
  return () => watcher.close();
}
