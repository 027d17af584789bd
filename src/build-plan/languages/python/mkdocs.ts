/** Documentation that MkDocs builds: pages for the file server, no program. */
import type { Step } from '../../build-plan.ts';
import type { AppDeclaration, PlanParts } from '../../language.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import { serveSite, SITE_NODE } from '../static/site-server.ts';
import { MANIFESTS } from './packages.ts';
import type { Required } from './required.ts';

const SETTINGS = ['mkdocs.yml', 'mkdocs.yaml'];
/** Themes that are not packages of their own names. */
const THEMES: Readonly<Record<string, string>> = { material: 'mkdocs-material' };
const SITE = 'site';
const BUILD: Step = {
  name: 'mkdocs build',
  run: ['{layer}/bin/python', '-m', 'mkdocs', 'build', '--site-dir', SITE],
};

interface MkDocs extends Pick<PlanParts, 'environment' | 'files' | 'processes' | 'site'> {
  readonly adds: readonly string[];
  readonly notes: readonly string[];
  readonly steps: readonly Step[];
  readonly tools: readonly [typeof SITE_NODE];
}

/** Null where the source is something else that has documentation, too. */
export async function mkdocs(files: SourceFiles, required: Required, asked: AppDeclaration): Promise<MkDocs | null> {
  const settings = await files.find(...SETTINGS);
  if (settings === null || asked.processes !== null) return null;
  const isListed = required.first('mkdocs', ...Object.values(THEMES)) !== null;
  if (!isListed && (await files.find(...MANIFESTS)) !== null) return null;
  const named = await files.findLine(settings, /^\s*(?:theme|name)\s*:\s*["']?([\w-]+)["']?\s*$/);
  const theme = named?.match[1] ?? '';
  const packaged = Object.hasOwn(THEMES, theme) ? THEMES[theme] : undefined;
  const adds = isListed ? [] : ['mkdocs', ...(packaged === undefined ? [] : [packaged])];
  const served = serveSite(
    {
      roots: [SITE],
      fallback: null,
      from: settings,
      otherwise: {
        cause: 'build_failed',
        message: 'MkDocs has made no index.html.',
        hint: 'Add docs/index.md, or README.md in the directory of the pages, commit and push again.',
      },
    },
    asked,
  );
  return {
    ...served,
    adds,
    steps: [BUILD],
    tools: [SITE_NODE],
    notes: isListed
      ? []
      : [`${adds.join(' and ')} ${adds.length === 1 ? 'is' : 'are'} installed: no list of packages names it`],
  };
}
