/** Where Angular puts what it builds. */
import { isRecord } from '../../../lib/is-record.ts';
import { type SourceFiles, valueAt } from '../../source/source-files.ts';

/** Directories that may hold the site, the best first. */
export async function angularSite(files: SourceFiles): Promise<string[]> {
  const projects = valueAt(await files.json('angular.json'), ['projects']);
  const outputs = Object.entries(isRecord(projects) ? projects : {}).map(([name, project]) => {
    const options =
      valueAt(project, ['architect', 'build', 'options']) ?? valueAt(project, ['targets', 'build', 'options']);
    const output = valueAt(options, ['outputPath']);
    const base = isRecord(output) ? output['base'] : output;
    return typeof base === 'string' ? base : `dist/${name}`;
  });
  const inside = outputs.filter((output) => /^[\w@][\w@./-]*$/.test(output) && !output.includes('..'));
  return [...new Set([...inside.flatMap((output) => [`${output}/browser`, output]), 'dist'])];
}
