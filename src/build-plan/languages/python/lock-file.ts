/** Does uv.lock, poetry.lock or pdm.lock have what pyproject.toml asks for? */
import { isRecord } from '../../../lib/is-record.ts';
import type { PlanProblem } from '../../build-plan.ts';
import { type SourceFiles, valueAt } from '../../source/source-files.ts';
import { lockedPackages } from '../locked-packages.ts';
import { normalName } from './required.ts';

/** Null when it does, or when there is no lock. Throws Failure `invalid_config`. */
export async function lockProblem(files: SourceFiles): Promise<PlanProblem | null> {
  const lock = await files.find('uv.lock', 'poetry.lock', 'pdm.lock');
  if (lock === null) return null;
  const names = lockedPackages((await files.text(lock)) ?? '').keys();
  const locked = new Set([...names].map(normalName));
  const missing = askedFor(await files.toml('pyproject.toml')).find((name) => !locked.has(normalName(name)));
  if (missing === undefined) return null;
  const found = await files.findLine(
    'pyproject.toml',
    new RegExp(`^[^#]*(?<![\\w.-])${missing.replaceAll('.', '\\.')}(?![\\w.-])`),
  );
  const where = found === null ? 'pyproject.toml' : `pyproject.toml line ${found.line}`;
  return {
    cause: 'invalid_config',
    message: `${lock} does not fit pyproject.toml: ${where} asks for ${missing}, which is not locked.`,
    hint: `Run "${lock.replace('.', ' ')}" in the app, commit ${lock} and push again.`,
  };
}

/** Those that are wanted everywhere: what is only for another system or Python may be in no lock. */
function askedFor(project: unknown): string[] {
  const listed = valueAt(project, ['project', 'dependencies']);
  const poetry = valueAt(project, ['tool', 'poetry', 'dependencies']);
  const lines = (Array.isArray(listed) ? listed : []).filter((line) => typeof line === 'string' && !line.includes(';'));
  const plain = Object.entries(isRecord(poetry) ? poetry : {}).filter(
    ([name, wanted]) => name !== 'python' && typeof wanted === 'string',
  );
  const names = lines.map((line) => /^\s*([A-Za-z0-9][\w.-]*)/.exec(String(line).slice(0, 500))?.[1]);
  return [...names, ...plain.map(([name]) => name)].filter(
    (name) => name !== undefined && /^[\w.-]+$/.test(name),
  ) as string[];
}
