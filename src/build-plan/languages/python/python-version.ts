/** Which Python a source asks for. */
import type { WantedVersion } from '../../build-plan.ts';
import { isRecord } from '../../../lib/is-record.ts';
import { type SourceFiles, valueAt } from '../../source/source-files.ts';
import { askedRange } from '../../versions.ts';

const MAX_TEXT = 80;

interface PythonVersion {
  readonly wanted: WantedVersion | null;
  /** What cannot be followed; null: nothing. */
  readonly note: string | null;
}

/** The first that there is: .python-version, runtime.txt, .tool-versions, Pipfile or pyproject.toml. */
export async function pythonVersion(files: SourceFiles): Promise<PythonVersion> {
  const asked = await askedVersion(files);
  if (asked === null) return { wanted: null, note: null };
  const { text, from } = asked;
  const range = askedRange(text);
  if (range !== null) return { wanted: { range, text, from }, note: null };
  return { wanted: null, note: `${from} asks for "${text}", which is no version of python3: the server's own is used` };
}

async function askedVersion(files: SourceFiles): Promise<{ text: string; from: string } | null> {
  for (const file of ['.python-version', 'runtime.txt']) {
    const found = await files.findLine(file, /^\s*(?:c?python-?)?([^\s#]+)/);
    if (found !== null) return { text: bounded(found.match[1]), from: file };
  }
  const tool = await files.findLine('.tool-versions', /^\s*python\s+([^\s#]+)/);
  if (tool !== null) return { text: bounded(tool.match[1]), from: '.tool-versions' };
  const pipfile = valueAt(await files.toml('Pipfile'), ['requires']);
  const inPipfile = isRecord(pipfile) ? (pipfile['python_full_version'] ?? pipfile['python_version']) : undefined;
  if (typeof inPipfile === 'string' && !(await files.exists('pyproject.toml'))) {
    return { text: bounded(inPipfile), from: 'requires.python_version in Pipfile' };
  }
  const project = await files.toml('pyproject.toml');
  const required = valueAt(project, ['project', 'requires-python']);
  if (typeof required === 'string') return { text: bounded(required), from: 'requires-python in pyproject.toml' };
  const poetry = valueAt(project, ['tool', 'poetry', 'dependencies', 'python']);
  const text = isRecord(poetry) ? poetry['version'] : poetry;
  return typeof text === 'string' && text !== '*' ? { text: bounded(text), from: 'pyproject.toml' } : null;
}

function bounded(text = ''): string {
  return text.trim().slice(0, MAX_TEXT);
}
