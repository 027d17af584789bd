/** Go modules. */
import type { PlannedProcess, Step, Tool } from '../../build-plan.ts';
import { type Asked, firstSign, type Language, type PlanParts } from '../../language.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import { NETWORK_VARIABLES } from '../network-variables.ts';

const GO: Tool = {
  program: 'go',
  version: ['version'],
  minimum: '1.18.0',
  install: {
    'apt-get': 'apt-get install -y golang-go',
    apk: 'apk add go',
    dnf: 'dnf install -y golang',
    brew: 'brew install go',
  },
};
/** Packages that most programs use: compiled once for all apps, not once per app. */
const COMPILED = ['net/http', 'encoding/json', 'html/template', 'database/sql', 'log/slog', 'embed'];
const STANDARD_LIBRARY = 'go-standard-library';
const BUILD = ['go', 'build', '-trimpath', '-buildvcs=false', '-o'];

export const go: Language = {
  name: 'go',
  description: 'Go modules',
  example: 'bin/my-app',
  signs: ['go.mod'],
  tools: [GO],
  inherit: [...NETWORK_VARIABLES, ...['GOPROXY', 'GONOPROXY', 'GOSUMDB', 'GONOSUMDB', 'GOPRIVATE', 'GOINSECURE']],
  ask: [
    { command: ['go', 'env', 'GOPROXY'], into: { variable: 'GOPROXY' } },
    { command: ['go', 'env', 'GOSUMDB'], into: { variable: 'GOSUMDB' } },
  ],
  detect: (files) => firstSign(files, { manifest: ['go.mod'] }),
  plan,
};

async function plan(files: SourceFiles, asked: Asked): Promise<PlanParts> {
  const programs = await programsOf(files);
  return {
    title: 'Go',
    tools: [GO],
    sharedTools: [
      {
        name: STANDARD_LIBRARY,
        per: 'go',
        steps: [['env', 'GOCACHE={directory}', 'GOFLAGS=', 'go', 'build', '-trimpath', ...COMPILED]],
      },
    ],
    environment: [
      { name: 'GOPATH', value: '{downloads}/go', scope: 'build' },
      { name: 'GOCACHE', value: '{downloads}/go-build', scope: 'build' },
      // Modules that may be removed again.
      { name: 'GOFLAGS', value: '-modcacherw', scope: 'build' },
    ],
    steps: [
      {
        name: 'compiled standard library',
        run: ['cp', '-R', '-n', `{${STANDARD_LIBRARY}}/.`, '{downloads}/go-build'],
      },
      ...buildSteps(programs, asked),
    ],
    processes: web(programs, asked),
  };
}

interface Programs {
  /** The top of the repository is a program. */
  readonly atTop: boolean;
  /** Names of the directories in cmd/. */
  readonly commands: readonly string[];
}

async function programsOf(files: SourceFiles): Promise<Programs> {
  const sources = await files.findAll('*.go');
  const atTop = sources.length > 0 && (await files.hasLine('*.go', /^package\s+main\b/));
  const commands = (await files.findAll('cmd/*/*.go')).map((path) => path.split('/')[1] ?? '');
  return { atTop, commands: [...new Set(commands)] };
}

function buildSteps({ atTop, commands }: Programs, { app }: Asked): Step[] {
  if (atTop) return [{ name: 'go build', run: [...BUILD, `bin/${app}`, '.'] }];
  if (commands.length === 0) return [];
  return [{ name: 'go build ./cmd/...', run: [...BUILD, 'bin/', './cmd/...'] }];
}

function web({ atTop, commands }: Programs, { app }: Asked): Record<string, PlannedProcess> {
  if (atTop) return { web: { command: `bin/${app}`, from: 'the program at the top' } };
  const name =
    ['web', 'server'].find((each) => commands.includes(each)) ?? (commands.length === 1 ? commands[0] : undefined);
  return name === undefined ? {} : { web: { command: `bin/${name}`, from: `cmd/${name}` } };
}
