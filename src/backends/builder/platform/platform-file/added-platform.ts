/** A platform that an admin has added: the same format, without what reaches beyond the sandboxes of its own builds. */
import { PlatformError } from '../../../../domain/errors.ts';
import { YamlMistake, YamlNode } from '../../../../build-plan/yaml-node.ts';
import type { Platform } from './platform-file.ts';
import { readPlatform } from './read-platform.ts';

/** Only in platforms that come with the server: they run programs as its user, or write what the builds of all apps use. */
const RESERVED: Readonly<Record<string, string>> = {
  ask: 'runs programs outside of any sandbox',
  files: 'copies files that lie beside platform.yaml',
  'shared-tools': 'makes programs that all apps use',
};
const PROGRAM = /^\w[\w.+-]*$/;
const DOCKERFILE = /^\s*(?:#[^\n]*\n\s*|ARG\s[^\n]*\n\s*)*FROM\s+\S/i;
const ADDRESS = /^\s*https?:\/\/\S+\s*$/i;

/**
 * `inheritable`: the variables of the server that builds may be given. Throws PlatformError `platform.invalid_definition` with the
 * line and key of the mistake, `unsupported` for a Dockerfile.
 */
export function readAddedPlatform(name: string, text: string, inheritable: ReadonlySet<string>): Platform {
  if (DOCKERFILE.test(text) || ADDRESS.test(text)) {
    throw new PlatformError('unsupported', 'Platforms are not made of a Dockerfile here: apps run as processes.', {
      hint: 'Send a definition in YAML, as docs/platforms.md describes it.',
    });
  }
  const file = `${name}.yaml`;
  try {
    const platform = readPlatform(name, file, text);
    refuseReserved(YamlNode.parse(file, text), inheritable);
    return platform;
  } catch (error) {
    if (!(error instanceof YamlMistake)) throw error;
    throw new PlatformError('platform.invalid_definition', error.message, {
      cause: error,
      hint: 'Platforms are described in docs/platforms.md.',
    });
  }
}

function refuseReserved(root: YamlNode, inheritable: ReadonlySet<string>): void {
  for (const [key, node] of root.entries()) {
    const why = RESERVED[key];
    if (why !== undefined && !node.isEmpty) {
      throw node.wrong(`is only for platforms that come with the server, for it ${why}`);
    }
    if (key === 'inherit') refuseForeign(node, inheritable);
    if (key === 'tools' && !node.isEmpty) node.list().forEach(refuseReaching);
  }
}

/** Other variables of the server may hold its secrets. */
function refuseForeign(node: YamlNode, inheritable: ReadonlySet<string>): void {
  for (const item of node.isEmpty ? [] : node.list()) {
    if (!inheritable.has(item.text())) throw item.mistake(`one of ${[...inheritable].sort().join(', ')}`);
  }
}

function refuseReaching(tool: YamlNode): void {
  for (const [key, node] of tool.entries()) {
    if (key === 'program' && !PROGRAM.test(node.text()))
      throw node.mistake('the name of a program, without a directory');
    if (key === 'others') {
      const strange = node.list().find((name) => !PROGRAM.test(name.text()));
      if (strange !== undefined) throw strange.mistake('the name of a program, without a directory');
    }
    if (key === 'versions') throw node.wrong('is only for platforms that come with the server');
  }
}
