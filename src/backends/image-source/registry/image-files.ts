/** What an image makes of an app: its own command, what tancho.yaml in its working directory says, and what people have set. */
import { readAppFiles } from '../../../build-plan/app-files/app-files.ts';
import { directoryReader } from '../../../build-plan/source/directory.ts';
import { SourceFiles } from '../../../build-plan/source/source-files.ts';
import { ROUTED_PROCESS } from '../../../domain/units/unit.ts';
import type { Artifact } from '../../../domain/deploys/builder.ts';
import { imageCommand } from '../../../domain/deploys/image-command.ts';
import type { SlugImage } from '../../../domain/artifacts/slug.ts';
import { argvText } from '../../../lib/argv-text.ts';
import type { SourceReader } from '../../../build-plan/source/source-reader.ts';
import type { ImageConfig } from './image-config.ts';

/** The others are meant for other platforms, whose processes are not those of the image. */
const OURS = new Set(['tancho.yaml', 'tancho.yml']);

export interface ImageApp {
  readonly id: string;
  /** The root file system. */
  readonly code: string;
  readonly image: Pick<SlugImage, 'directory' | 'programs'>;
  readonly config: ImageConfig;
  /** Process name -> command, as people have set them. */
  readonly commands: Readonly<Record<string, string>>;
  readonly line: (text: string) => void;
}

/** Throws Failure `invalid_config`. */
export async function appOfImage({ id, code, image, config, commands, line }: ImageApp): Promise<Artifact> {
  const [all, directory] = [new SourceFiles(directoryReader(code)), image.directory.replace(/^\/+/, '')];
  const reader = only(OURS, directoryReader(code), directory);
  const context = { section: null, options: [], note: line };
  const files = await readAppFiles(new SourceFiles(reader), context, all.below(directory));
  const { restartBefore, restartAfter, healthCheck, volumes, bindings } = files.config;
  const said = Object.entries({ ...files.processes, ...commands });
  const { healthCheck: own, liveness, note } = config.health;
  if (note !== '' && healthCheck === null) line(note);
  const settings = { ...files.settings };
  if (liveness !== null && healthCheck === null && settings[ROUTED_PROCESS]?.liveness === undefined) {
    settings[ROUTED_PROCESS] = { ...settings[ROUTED_PROCESS], liveness };
  }
  return {
    id,
    processes: {
      ...(files.processes === null && { [ROUTED_PROCESS]: argvText(config.argv) }),
      ...Object.fromEntries(said.map(([name, command]) => [name, imageCommand(name, command, image.programs)])),
    },
    settings,
    healthCheck: healthCheck ?? own,
    hooks: { release: files.release, restartBefore, restartAfter },
    volumes,
    bindingNames: bindings,
    maintenancePage: files.maintenancePage,
  };
}

/** The directory as if there were no other files in it. */
function only(names: ReadonlySet<string>, reader: SourceReader, directory: string): SourceReader {
  const at = (path: string): string => (directory === '' ? path : `${directory}/${path}`);
  return {
    kind: async (path) => (names.has(path) ? reader.kind(at(path)) : null),
    list: async () => null,
    read: async (path, most) => (names.has(path) ? reader.read(at(path), most) : null),
  };
}
