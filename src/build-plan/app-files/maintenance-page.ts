import { MAX_PAGE_BYTES } from '../../domain/apps/edge-settings.ts';
import { Failure } from '../../domain/failure.ts';
import type { SourceFiles } from '../source/source-files.ts';

/** The page that `maintenance_page` of this file names. Throws Failure `invalid_config`. */
export async function readMaintenancePage(files: SourceFiles, path: string, file: string): Promise<string> {
  const parts = path.split('/');
  const isInside = !path.startsWith('/') && parts.every((part) => part !== '' && part !== '..' && part !== '.');
  const page = isInside ? await files.text(path) : null;
  if (page === null || page.trim() === '') {
    const what = !isInside ? 'is no path below the source' : page === null ? 'is not there' : 'is empty';
    throw new Failure('invalid_config', `The maintenance_page of ${file}, ${path}, ${what}.`, {
      hint: `Name an HTML file of the repository, such as public/maintenance.html, as maintenance_page in ${file}, or remove the key, and push again.`,
    });
  }
  if (Buffer.byteLength(page) <= MAX_PAGE_BYTES) return page;
  throw new Failure(
    'invalid_config',
    `The maintenance_page of ${file}, ${path}, is larger than ${MAX_PAGE_BYTES} bytes.`,
    {
      hint: `Make ${path} smaller, with large images and styles at another address, and push again.`,
    },
  );
}
