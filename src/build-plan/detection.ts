/** How a source is known: by files with the names of a language, or by a command of its own that starts one of its files. */
import type { Detection, Language } from './language.ts';
import type { SourceFiles } from './source/source-files.ts';

const COMMANDS_LIE_IN = ['Procfile', 'tancho.yaml'];

/** Null when the source is of something else. `commands`: those that are set on the app. */
export async function detectionOf(
  language: Language,
  files: SourceFiles,
  commands: readonly string[] = [],
): Promise<Detection | null> {
  const detection = await language.detect(files);
  if (detection !== null || language.starts === undefined) return detection;
  for (const command of commands) {
    const file = language.starts.exec(command)?.[1];
    if (file !== undefined && (await files.exists(file))) return { because: file, strength: 'program' };
  }
  for (const place of COMMANDS_LIE_IN) {
    const file = (await files.findLine(place, language.starts))?.match[1];
    if (file !== undefined && (await files.exists(file))) {
      return { because: `${file}, which ${place} starts`, strength: 'program' };
    }
  }
  return null;
}
