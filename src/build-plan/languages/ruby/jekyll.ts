/** Sites that Jekyll builds: pages for the file server, no program. */
import type { Step, Tool } from '../../build-plan.ts';
import type { AppDeclaration, PlanParts } from '../../language.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import { serveSite, SITE_NODE } from '../static/site-server.ts';
import type { Gemfile } from './gemfile.ts';

const SETTINGS = ['_config.yml', '_config.yaml', '_config.toml'];
/** Each brings Jekyll. */
const GEMS = ['jekyll', 'github-pages'];
const DESTINATION = /^destination\s*[:=]\s*["']?(?:\.\/)?([\w./-]+?)\/?["']?\s*$/;
const BUILD: Step = {
  name: 'jekyll build',
  run: ['bundle', 'exec', 'jekyll', 'build'],
  env: { JEKYLL_ENV: 'production' },
};

interface Jekyll extends Pick<PlanParts, 'environment' | 'files' | 'processes' | 'site'> {
  readonly steps: readonly Step[];
  readonly tools: readonly Tool[];
}

/** Null where the source is something else, or says itself what it starts. */
export async function jekyll(files: SourceFiles, gemfile: Gemfile, asked: AppDeclaration): Promise<Jekyll | null> {
  const settings = await files.find(...SETTINGS);
  if (settings === null || asked.processes !== null) return null;
  let isThere = false;
  for (const name of GEMS) isThere ||= await gemfile.has(name);
  if (!isThere || (await files.exists('config.ru'))) return null;
  const named = (await files.findLine(settings, DESTINATION))?.match[1];
  const root = named === undefined || named.includes('..') ? '_site' : named;
  const served = serveSite(
    {
      roots: [root],
      fallback: null,
      from: settings,
      otherwise: {
        cause: 'build_failed',
        message: `Jekyll has made no index.html in ${root}.`,
        hint: 'Add index.md or index.html at the top of the source, commit and push again.',
      },
    },
    asked,
  );
  return { ...served, steps: [BUILD], tools: [SITE_NODE] };
}
