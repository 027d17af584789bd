/** Which list of packages counts, and how they are installed into a virtual environment. */
import type { BroughtFile, DependencySet, Problem, SharedTool, Step } from '../../build-plan.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import { pipfileRequirements } from './pipfile.ts';

/** The first that is there counts. */
export const MANIFESTS = ['requirements.txt', 'pyproject.toml', 'Pipfile'];
/** One pip for all apps: a virtual environment without its own pip is made in a fraction of the time. */
export const PIP: SharedTool = {
  name: 'pip',
  per: 'python3',
  steps: [
    ['python3', '-m', 'venv', '{directory}'],
    ['{directory}/bin/python', '-m', 'pip', 'install', '--no-input', 'pip>=22.3'],
  ],
};
const INSTALL = [
  '{pip}/bin/python',
  '-m',
  'pip',
  '--python',
  '{layer}/bin/python',
  'install',
  '--no-warn-script-location',
];
const KEY_FILES = [
  ...['requirements*.txt', 'requirements/*.txt', 'constraints*.txt'],
  ...['pyproject.toml', 'poetry.lock', 'uv.lock', 'Pipfile', 'Pipfile.lock'],
];
/** Packages that lie in the source. */
const LOCAL = /^\s*(-e|--editable|\.|file:)/;

export interface InstalledPackages {
  readonly set: DependencySet;
  readonly files: readonly BroughtFile[];
  readonly notes: readonly string[];
  readonly problems: readonly Problem[];
}

type Listed = Omit<InstalledPackages, 'set'> & { readonly steps: readonly Step[]; readonly neverKept?: string | null };

const NOTHING: Listed = { steps: [], files: [], notes: [], problems: [] };

/** `adds`: packages that are installed beside those of the source. Throws Failure `invalid_config`. */
export async function installedPackages(
  files: SourceFiles,
  adds: readonly string[],
  keepsDevelopment: boolean,
): Promise<InstalledPackages> {
  const listed = await listedPackages(files, keepsDevelopment);
  const steps: Step[] = [
    { name: 'python3 -m venv', run: ['python3', '-m', 'venv', '--without-pip', '{layer}'] },
    ...listed.steps,
    ...(adds.length === 0 ? [] : [{ name: `pip install ${adds.join(' ')}`, run: [...INSTALL, ...adds] }]),
  ];
  return {
    ...listed,
    set: {
      name: 'Python packages',
      keep: { kind: 'layer' },
      // Packages from the source itself belong to this one version of the source.
      neverKept: listed.neverKept ?? null,
      key: { files: KEY_FILES },
      steps,
    },
  };
}

async function listedPackages(files: SourceFiles, keepsDevelopment: boolean): Promise<Listed> {
  switch (await files.find(...MANIFESTS)) {
    case 'requirements.txt':
      return fromRequirements(files);
    case 'pyproject.toml':
      return {
        ...NOTHING,
        files: [{ from: 'python/requirements.py', to: '.tancho/requirements.py' }],
        steps: [
          { name: 'reading pyproject.toml', run: ['{pip}/bin/python', '.tancho/requirements.py', '.tancho'] },
          {
            name: 'pip install (pyproject.toml)',
            run: [...INSTALL, '--requirement', '.tancho/requirements.txt', '--constraint', '.tancho/constraints.txt'],
          },
        ],
      };
    case 'Pipfile':
      return fromPipfile(files, keepsDevelopment);
    default:
      return NOTHING;
  }
}

async function fromRequirements(files: SourceFiles): Promise<Listed> {
  const lock = await files.find('uv.lock', 'poetry.lock', 'Pipfile.lock');
  const isLocal = await files.hasLine('requirements.txt', LOCAL);
  return {
    ...NOTHING,
    steps: [{ name: 'pip install (requirements.txt)', run: [...INSTALL, '--requirement', 'requirements.txt'] }],
    notes: lock === null ? [] : [`requirements.txt is what is installed; ${lock} is not read beside it`],
    neverKept: isLocal ? 'requirements.txt names packages of the source itself' : null,
  };
}

async function fromPipfile(files: SourceFiles, keepsDevelopment: boolean): Promise<Listed> {
  const { lines, isLocked, problem } = await pipfileRequirements(files, keepsDevelopment);
  const name = isLocked ? 'Pipfile.lock' : 'Pipfile';
  const to = '.tancho/requirements.txt';
  return {
    files: [{ text: lines.map((line) => `${line}\n`).join(''), to }],
    steps: [{ name: `pip install (${name})`, run: [...INSTALL, '--requirement', to] }],
    notes: isLocked ? [] : ['There is no Pipfile.lock: the newest versions that Pipfile allows are installed'],
    problems: problem === null ? [] : [problem],
    neverKept: lines.some((line) => LOCAL.test(line)) ? `${name} names packages of the source itself` : null,
  };
}
