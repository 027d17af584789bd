import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { PlatformError } from '../../../../domain/errors.ts';
import { YamlMistake } from '../../../../build-plan/yaml-node.ts';
import type { Platform } from './platform-file.ts';
import { readPlatform } from './read-platform.ts';

const NAME = /^[a-z][a-z0-9-]*$/;

/** Reads every `<directory>/<name>/platform.yaml`, by name. Throws PlatformError `config.invalid`. */
export async function loadPlatforms(directory: string): Promise<Map<string, Platform>> {
  const platforms = new Map<string, Platform>();
  const entries = await readdir(directory, { withFileTypes: true });
  for (const name of entries
    .filter((entry) => entry.isDirectory() && NAME.test(entry.name))
    .map((entry) => entry.name)
    .sort()) {
    const path = resolve(join(directory, name, 'platform.yaml'));
    try {
      platforms.set(name, readPlatform(name, path, await readFile(path, 'utf8')));
    } catch (error) {
      const reason = error instanceof YamlMistake ? error.message : `${path} cannot be read: ${String(error)}`;
      throw new PlatformError('config.invalid', reason, {
        hint: 'Platforms are described in docs/platforms.md.',
        cause: error,
      });
    }
  }
  if (platforms.size === 0) {
    throw new PlatformError('config.invalid', `There is no platform in ${directory}.`, {
      hint: 'It is to hold <name>/platform.yaml files.',
    });
  }
  return platforms;
}
