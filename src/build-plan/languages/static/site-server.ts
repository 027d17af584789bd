/** The file server that serves a directory of the code as a site. */
import type { AppDeclaration, PlanParts, SectionOptions } from '../../language.ts';
import type { PlanProblem, Site, Tool } from '../../build-plan.ts';

/** Section `static` of tancho.yaml. */
export const SITE_OPTIONS: SectionOptions = {
  section: 'static',
  keys: [
    { key: 'root', variable: 'STATIC_ROOT', description: 'a directory of the source, such as public', isPath: true },
    {
      key: 'fallback',
      variable: 'STATIC_FALLBACK',
      description: 'a file that answers every unknown path, such as index.html',
    },
  ],
};

export const SITE_NODE: Tool = {
  program: 'node',
  minimum: '18.0.0',
  runtime: true,
  install: {
    'apt-get': 'apt-get install -y nodejs',
    apk: 'apk add nodejs',
    dnf: 'dnf install -y nodejs',
    brew: 'brew install node',
  },
};

interface SiteToServe {
  /** Directories that may hold it, the best first. */
  readonly roots: readonly string[];
  /** The file below the root that answers unknown paths; null: 404. */
  readonly fallback: string | null;
  /** For people: `Vite`. */
  readonly from: string;
  /** When none of the directories has an index.html after the steps. */
  readonly otherwise: PlanProblem;
}

type SiteParts = Required<Pick<PlanParts, 'environment' | 'files' | 'processes' | 'site'>>;

/** What tancho.yaml says of root and fallback comes first. */
export function serveSite({ roots, fallback, from, otherwise }: SiteToServe, { options }: AppDeclaration): SiteParts {
  const site: Site = { roots, index: 'index.html', variable: 'STATIC_ROOT', otherwise };
  return {
    site: options['STATIC_ROOT'] === undefined ? site : null,
    environment: fallback === null ? [] : [{ name: 'STATIC_FALLBACK', value: fallback, scope: 'run' }],
    files: [{ from: 'static/server.mjs', to: '.tancho/server.mjs' }],
    processes: {
      web: { command: 'node --max-old-space-size=32 --max-semi-space-size=1 .tancho/server.mjs', from },
    },
  };
}
