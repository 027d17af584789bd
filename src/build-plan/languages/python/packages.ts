/** Which list of packages counts, and how they are installed into a virtual environment. */
import { isRecord } from '../../../lib/is-record.ts';
import type { AddedFile, DependencySet, PlanProblem, Step } from '../../build-plan.ts';
import { type SourceFiles, valueAt } from '../../source/source-files.ts';
import type { Runner } from './called-program.ts';
import { lockProblem } from './lock-file.ts';
import { pipfileRequirements } from './pipfile.ts';
import { requirementFiles } from './required.ts';
import { uv, UV_SCRIPT } from './tools.ts';

/** The first that is there counts. */
export const MANIFESTS = ['requirements.txt', 'pyproject.toml', 'Pipfile'];
const INSTALL = uv('pip', 'install', '--python', '{layer}/bin/python');
const REQUIREMENTS = '.tancho/requirements.txt';
const KEY_FILES = [
  ...['requirements*.txt', 'requirements/*.txt', 'constraints*.txt'],
  ...['pyproject.toml', 'poetry.lock', 'pdm.lock', 'uv.lock', 'Pipfile', 'Pipfile.lock'],
];
const OLD_IMPORTS: AddedFile = { from: 'python/old_imports.py', to: '.tancho/old_imports.py' };
const RUNNER: AddedFile = { from: 'python/runner.py', to: '.tancho/runner.py' };
const OLD_IMPORTS_STEP: Step = {
  name: 'setuptools, where packages import it',
  run: ['{uv}/bin/python', OLD_IMPORTS.to, '{layer}', ...INSTALL],
};
const TO_UTF8 =
  'import pathlib, sys; file = pathlib.Path(sys.argv[1]); file.write_text(file.read_text("utf-16"), "utf-8")';
/** Packages that lie in the source. */
const LOCAL = /^\s*(-e|--editable|\.|file:)/;

interface InstalledPackages {
  readonly set: DependencySet;
  readonly files: readonly AddedFile[];
  readonly notes: readonly string[];
  readonly problems: readonly PlanProblem[];
}

type Listed = Omit<InstalledPackages, 'set'> & {
  readonly steps: readonly Step[];
  readonly neverKept?: string | null;
  /** Beside KEY_FILES. */
  readonly keyFiles?: readonly string[];
};

const NOTHING: Listed = { steps: [], files: [], notes: [], problems: [] };

interface Wishes {
  /** Packages that are installed beside those of the source. */
  readonly adds: readonly string[];
  readonly keepsDevelopment: boolean;
  /** The source itself asks for setuptools: in whatever version that is, it stays. */
  readonly hasSetuptools: boolean;
  /** Stand-ins for programs that the environment does not have. */
  readonly runners: readonly Runner[];
}

/** Throws Failure `invalid_config`. */
export async function installedPackages(
  files: SourceFiles,
  { adds, keepsDevelopment, hasSetuptools, runners }: Wishes,
): Promise<InstalledPackages> {
  const listed = await listedPackages(files, keepsDevelopment);
  const steps: Step[] = [
    { name: 'python3 -m venv', run: ['python3', '-m', 'venv', '--without-pip', '{layer}'] },
    ...listed.steps,
    ...(adds.length === 0 ? [] : [{ name: `uv pip install ${adds.join(' ')}`, run: [...INSTALL, ...adds] }]),
    ...(hasSetuptools || listed.steps.length === 0 ? [] : [OLD_IMPORTS_STEP]),
    ...runners.map((name): Step => ({
      name: `${name} run, for the environment`,
      run: ['install', '-m', '755', RUNNER.to, `{layer}/bin/${name}`],
    })),
  ];
  return {
    ...listed,
    files: [UV_SCRIPT, OLD_IMPORTS, ...(runners.length === 0 ? [] : [RUNNER]), ...listed.files],
    set: {
      name: 'Python packages',
      keep: { kind: 'layer' },
      // Packages from the source itself belong to this one version of the source.
      neverKept: listed.neverKept ?? null,
      key: { files: [...KEY_FILES, ...(listed.keyFiles ?? [])] },
      steps,
    },
  };
}

async function listedPackages(files: SourceFiles, keepsDevelopment: boolean): Promise<Listed> {
  switch (await files.find(...MANIFESTS)) {
    case 'requirements.txt':
      return fromRequirements(files);
    case 'pyproject.toml':
      return fromProject(files, keepsDevelopment);
    case 'Pipfile':
      return fromPipfile(files, keepsDevelopment);
    default:
      return NOTHING;
  }
}

async function fromRequirements(files: SourceFiles): Promise<Listed> {
  const lock = await files.find('uv.lock', 'poetry.lock', 'Pipfile.lock');
  const lists = await requirementFiles(files);
  const isLocal = await Promise.all(lists.map((list) => files.hasLine(list, LOCAL)));
  const own = lists.find((_, index) => isLocal[index] === true);
  const known = await Promise.all(KEY_FILES.map((pattern) => files.findAll(pattern)));
  const isUtf16 = await Promise.all(lists.map((list) => files.isUtf16(list)));
  return {
    ...NOTHING,
    steps: [
      ...lists.filter((_, index) => isUtf16[index] === true).map(toUtf8),
      { name: 'uv pip install (requirements.txt)', run: [...INSTALL, '--requirement', 'requirements.txt'] },
    ],
    notes: lock === null ? [] : [`requirements.txt is what is installed; ${lock} is not read beside it`],
    neverKept: own === undefined ? null : `${own} names packages of the source itself`,
    keyFiles: lists.filter((list) => !known.flat().includes(list)),
  };
}

/** A list as PowerShell writes it; uv reads UTF-8 only. */
function toUtf8(list: string): Step {
  return { name: `${list} from UTF-16 to UTF-8`, run: ['{layer}/bin/python', '-c', TO_UTF8, list] };
}

async function fromProject(files: SourceFiles, keepsDevelopment: boolean): Promise<Listed> {
  const problem = await lockProblem(files);
  const parts = { ...NOTHING, problems: problem === null ? [] : [problem] };
  if (!(await files.exists('uv.lock'))) {
    const constrained = ['--requirement', REQUIREMENTS, '--constraint', '.tancho/constraints.txt'];
    const name = (await files.find('poetry.lock', 'pdm.lock')) ?? 'pyproject.toml';
    return {
      ...parts,
      neverKept: (await hasOwnPackage(files)) ? 'tool.poetry.dependencies names packages of the source itself' : null,
      files: [{ from: 'python/requirements.py', to: '.tancho/requirements.py' }],
      steps: [
        { name: 'reading pyproject.toml', run: ['{uv}/bin/python', '.tancho/requirements.py', '.tancho'] },
        { name: `uv pip install (${name})`, run: [...INSTALL, ...constrained] },
      ],
    };
  }
  const project = valueAt(await files.toml('pyproject.toml'), ['tool', 'uv']);
  const groups = keepsDevelopment ? [] : ['--no-dev'];
  const own = ['workspace', 'sources'].find((key) => valueAt(project, [key]) !== undefined);
  const neverKept =
    own === undefined ? null : `tool.uv.${own} in pyproject.toml may name packages of the source itself`;
  const locked = ['--frozen', ...groups, '--no-editable', '--python', '{layer}/bin/python'];
  // Only uv itself knows which package comes from which index.
  if (valueAt(project, ['index']) !== undefined) {
    const steps = [{ name: 'uv sync (uv.lock)', run: uv('sync', ...locked, '--no-install-project') }];
    return { ...parts, steps, neverKept };
  }
  const output = ['--no-emit-project', '--quiet', '--output-file', REQUIREMENTS];
  return {
    ...parts,
    // The lock names the files of one index; the server may have another one.
    steps: [
      { name: 'reading uv.lock', run: uv('export', ...locked, ...output) },
      { name: 'uv pip install (uv.lock)', run: [...INSTALL, '--requirement', REQUIREMENTS] },
    ],
    neverKept,
  };
}

async function hasOwnPackage(files: SourceFiles): Promise<boolean> {
  const wanted = valueAt(await files.toml('pyproject.toml'), ['tool', 'poetry', 'dependencies']);
  return Object.values(isRecord(wanted) ? wanted : {}).some((each) => valueAt(each, ['path']) !== undefined);
}

async function fromPipfile(files: SourceFiles, keepsDevelopment: boolean): Promise<Listed> {
  const { lines, isLocked, problem } = await pipfileRequirements(files, keepsDevelopment);
  const name = isLocked ? 'Pipfile.lock' : 'Pipfile';
  return {
    files: [{ text: lines.map((line) => `${line}\n`).join(''), to: REQUIREMENTS }],
    steps: [{ name: `uv pip install (${name})`, run: [...INSTALL, '--requirement', REQUIREMENTS] }],
    notes: isLocked ? [] : ['There is no Pipfile.lock: the newest versions that Pipfile allows are installed'],
    problems: problem === null ? [] : [problem],
    neverKept: lines.some((line) => LOCAL.test(line)) ? `${name} names packages of the source itself` : null,
  };
}
