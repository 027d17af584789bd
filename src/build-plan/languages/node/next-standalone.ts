/** Next.js with `output: 'standalone'`: a server with the packages it needs, and without the files that browsers load. */
import type { Step } from '../../build-plan.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import type { Runs } from './frameworks.ts';

const OUTPUT = '.next/standalone';
export const NEXT_START = /^(?:npx\s+)?next\s+start\b/;

export async function nextStandalone(files: SourceFiles): Promise<Runs> {
  const hasPublic = await files.exists('public');
  return {
    kind: 'server',
    command: `node ${OUTPUT}/server.js`,
    env: { HOSTNAME: '0.0.0.0' },
    // It does not serve what is built so.
    replaces: NEXT_START,
    afterBuild: (directory) => {
      // Below the top of a workspace, as in the source; all of it is copied to where it is without one.
      const made = directory === '' ? OUTPUT : `${OUTPUT}/${directory}`;
      const place = directory === '' ? {} : { directory };
      const step = (name: string, ...run: string[]): Step => ({ name, run, ...place });
      return [
        ...(directory === '' ? [] : [step(`${made} to the server`, 'cp', '-R', `${made}/.`, OUTPUT)]),
        step('static files to the server', 'cp', '-R', '.next/static', `${OUTPUT}/.next/`),
        ...(hasPublic ? [step('public to the server', 'cp', '-R', 'public', `${OUTPUT}/`)] : []),
      ];
    },
  };
}
