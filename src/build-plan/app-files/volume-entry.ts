/** What tancho.yaml says of volumes: a name with the path where units see it, or a mapping with more. */
import { PlatformError } from '../../domain/errors.ts';
import {
  checkMountPath,
  checkMounts,
  checkVolumeName,
  type DeclaredVolume,
  MAX_VOLUMES,
} from '../../domain/volumes/volume.ts';
import { bytesOf } from '../../lib/byte-size.ts';
import { PROCESS_NAME } from './procfile.ts';
import type { YamlNode } from '../yaml-node.ts';

/** Throws YamlMistake. */
export function volumeMap(node: YamlNode | undefined): Record<string, DeclaredVolume> {
  if (node === undefined || node.isEmpty) return {};
  const entries = node.entries();
  if (entries.length > MAX_VOLUMES) throw node.mistake(`at most ${MAX_VOLUMES} volumes`);
  const volumes = entries.map(([name, entry]): [string, DeclaredVolume] => {
    checked(entry, () => checkVolumeName(name));
    return [name, volumeEntry(entry)];
  });
  checked(node, () => checkMounts(volumes.map(([volume, entry]) => ({ volume, ...entry }))));
  return Object.fromEntries(volumes);
}

function volumeEntry(node: YamlNode): DeclaredVolume {
  const what = 'a path such as /data, or a mapping with path, size, single and processes';
  if (!node.isMap) return { path: pathOf(node, what), processes: [] };
  const fields = node.fields(['path', 'size', 'single', 'processes']);
  const path = fields.get('path');
  if (path === undefined) throw node.wrong('needs a path, where units see the volume');
  const size = fields.get('size');
  const single = fields.get('single');
  return {
    path: pathOf(path, 'a path such as /data'),
    processes: processesOf(fields.get('processes')),
    ...(size !== undefined && { maxBytes: sizeOf(size) }),
    ...(single !== undefined && { isSingle: single.flag() }),
  };
}

function pathOf(node: YamlNode, expected: string): string {
  const text = node.text(expected);
  return checked(node, () => checkMountPath(text));
}

function processesOf(node: YamlNode | undefined): string[] {
  if (node === undefined) return [];
  const names = node.texts('a list of process names, such as [web, worker]');
  if (!names.every((name) => PROCESS_NAME.test(name))) throw node.mistake('names of processes');
  return [...new Set(names)].sort();
}

function sizeOf(node: YamlNode): number {
  const bytes = node.isText ? bytesOf(node.text()) : node.integer(0, Number.MAX_SAFE_INTEGER);
  if (bytes === null) throw node.mistake('a size such as 512M or 10G');
  return bytes;
}

/** The rules are the same for who sets it on the app. */
function checked<T>(node: YamlNode, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (error instanceof PlatformError) throw node.wrong(`is wrong: ${error.message.replace(/\.$/, '')}`);
    throw error;
  }
}
