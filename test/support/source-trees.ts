/** Source trees for tests: from a mapping of paths to contents, or from a directory. */
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { SourceTree } from '../../src/domain/deploys/builder.ts';

/** A value that begins with `-> ` makes a symbolic link. */
export function treeOf(files: Readonly<Record<string, string>>): SourceTree {
  return {
    async extract(directory) {
      for (const [path, content] of Object.entries(files)) {
        const target = join(directory, path);
        await mkdir(dirname(target), { recursive: true });
        if (content.startsWith('-> ')) await symlink(content.slice(3), target);
        else await writeFile(target, content);
      }
    },
  };
}

export function treeFrom(source: string): SourceTree {
  return {
    async extract(directory) {
      await cp(source, directory, {
        recursive: true,
        filter: (path) => !/\/(node_modules|\.venv)(\/|$)/.test(path.slice(source.length)),
      });
    },
  };
}
