/** What was dropped or chosen: one archive as it is, or the files of a folder. */
import { Problem } from '../api/problem.ts';
import { archiveOf, type DroppedFile, isLeftOut } from './tar.ts';

const ARCHIVE = /\.(?:tar|tar\.gz|tgz)$/i;
const MOST_FILES = 50_000;
const MOST_BYTES = 512 * 1024 * 1024;

export interface DroppedFiles {
  readonly body: Blob;
  /** What it is, for people. */
  readonly name: string;
  /** 0 for an archive. */
  readonly files: number;
}

/** Has to be called while the event of the drop is handled: after that its entries are gone. */
export function entriesOf(data: DataTransfer): FileSystemEntry[] {
  return [...data.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
}

export async function uploadOfEntries(entries: readonly FileSystemEntry[]): Promise<DroppedFiles> {
  const [first] = entries;
  if (first === undefined) throw nothing();
  if (entries.length === 1 && first.isFile) return uploadOfFile(await fileOf(first as FileSystemFileEntry));
  const files: DroppedFile[] = [];
  // A folder stands for what is in it; several things are taken as they are.
  const isOneFolder = entries.length === 1 && first.isDirectory;
  for (const entry of entries) await collect(entry, isOneFolder ? '' : entry.name, files);
  return pack(files, isOneFolder ? first.name : `${entries.length} things`);
}

/** Of an input of the type `file` for folders: their paths begin with the folder. */
export async function uploadOfFiles(list: readonly File[]): Promise<DroppedFiles> {
  const [first] = list;
  if (first === undefined) throw nothing();
  if (first.webkitRelativePath === '') return uploadOfFile(first);
  const [folder = ''] = first.webkitRelativePath.split('/');
  const files = list.map((file) => ({ path: file.webkitRelativePath.slice(folder.length + 1), file }));
  return pack(
    files.filter(({ path }) => !isLeftOut(path)),
    folder,
  );
}

function uploadOfFile(file: File): DroppedFiles {
  if (ARCHIVE.test(file.name)) return { body: file, name: file.name, files: 0 };
  throw new Problem(`${file.name} is neither a folder nor a tar archive.`, {
    code: 'dashboard',
    hint: 'Drop the folder with your code, or an archive that ends in .tar, .tar.gz or .tgz. Unpack a .zip first.',
  });
}

async function pack(files: readonly DroppedFile[], name: string): Promise<DroppedFiles> {
  if (files.length === 0) throw nothing();
  const size = files.reduce((sum, { file }) => sum + file.size, 0);
  if (size > MOST_BYTES) {
    throw new Problem('That is more than 512 MiB.', {
      code: 'dashboard',
      hint: 'Push it with git, or leave out what the build makes anew.',
    });
  }
  return { body: await archiveOf(files), name, files: files.length };
}

async function collect(entry: FileSystemEntry, path: string, files: DroppedFile[]): Promise<void> {
  if (isLeftOut(path)) return;
  if (files.length >= MOST_FILES) throw new Problem(`Those are more than ${MOST_FILES} files.`, { code: 'dashboard' });
  if (entry.isFile) {
    files.push({ path, file: await fileOf(entry as FileSystemFileEntry) });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    // It gives a part of them each time, and nothing at the end.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return;
    for (const child of some) await collect(child, path === '' ? child.name : `${path}/${child.name}`, files);
  }
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject));
}

function nothing(): Problem {
  return new Problem('There is nothing in it that could be deployed.', {
    code: 'dashboard',
    hint: 'Drop the folder with your code.',
  });
}
