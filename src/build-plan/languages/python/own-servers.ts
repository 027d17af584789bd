/** Frameworks that bring a server, or that a server finds in a way of their own. */
import type { PlannedProcess, PlanProblem } from '../../build-plan.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import { appIn, moduleOf, MODULES, PLACES } from './modules.ts';
import type { Required } from './required.ts';

interface OwnServer {
  /** As the list of packages names it. */
  readonly package: string;
  readonly title: string;
  /** In the file that is started; its first group, if any, is the name of the app. */
  readonly line: RegExp;
  /** `module` with the name of the app behind it: `shop.main:app`. */
  readonly command: (file: string, module: string) => string;
  /** The package of the server, where the framework does not bring it. */
  readonly server?: string;
}

const NAME = String.raw`^(\w+)\s*(?::\s*[\w.]+\s*)?=\s*(?:\w+\.)?`;
const GUNICORN = (_: string, module: string): string => `gunicorn --bind 0.0.0.0:$PORT ${module}`;

/** What these are asked for means that the app is one. */
export const CHOSEN_FIRST: readonly OwnServer[] = [
  {
    package: 'python-fasthtml',
    title: 'FastHTML',
    line: /^(\w+)(?:\s*,\s*\w+)*\s*=\s*(?:\w+\.)?(?:fast_app|FastHTML)\(/,
    command: (_, module) => `uvicorn --host 0.0.0.0 --port $PORT ${module}`,
  },
  { package: 'dash', title: 'Dash', line: /^(\w+)\s*=\s*\w+\.server\b/, command: GUNICORN, server: 'gunicorn' },
  {
    package: 'dash',
    title: 'Dash',
    line: new RegExp(`${NAME}Dash\\(`),
    // gunicorn takes no attribute of an object.
    command: (_, module) => `waitress-serve --listen 0.0.0.0:$PORT ${module}.server`,
    server: 'waitress',
  },
  {
    package: 'sanic',
    title: 'Sanic',
    line: new RegExp(`${NAME}Sanic\\(`),
    command: (_, module) => `sanic ${module} --host 0.0.0.0 --port $PORT --single-process`,
  },
  {
    package: 'robyn',
    title: 'Robyn',
    line: /^\s*\w+\.start\(/,
    command: (file) => `ROBYN_HOST=0.0.0.0 ROBYN_PORT=$PORT python ${file}`,
  },
];

/** An app for data: a file that imports the package, served by the program of its name. */
function ofFile(name: string, title: string, command: (file: string) => string): OwnServer {
  return { package: name, title, line: new RegExp(`^\\s*(?:import|from)\\s+${name}\\b`), command };
}
/** Who reads the pages comes by the name of the app, not by an address of the unit. */
const ANY_NAME = "--allow-websocket-origin='*'";

/** What these are asked for may be a part of an app of another framework. */
export const OTHERS: readonly OwnServer[] = [
  {
    package: 'chainlit',
    title: 'Chainlit',
    line: /^(?:import|from)\s+chainlit\b/,
    command: (file) => `chainlit run ${file} --host 0.0.0.0 --port $PORT --headless`,
  },
  {
    package: 'gradio',
    title: 'Gradio',
    line: /^\s*\w+\.launch\(/,
    command: (file) => `GRADIO_SERVER_NAME=0.0.0.0 GRADIO_SERVER_PORT=$PORT python ${file}`,
  },
  // It has its port from the call alone, and any port of a unit is found.
  { package: 'nicegui', title: 'NiceGUI', line: /^\s*ui\.run\(/, command: (file) => `python ${file}` },
  ofFile('shiny', 'Shiny', (file) => `shiny run --host 0.0.0.0 --port $PORT ${file}`),
  ofFile('solara', 'Solara', (file) => `solara run ${file} --host 0.0.0.0 --port $PORT --production`),
  ofFile('marimo', 'marimo', (file) => `marimo run ${file} --host 0.0.0.0 --port $PORT --headless`),
  ofFile('panel', 'Panel', (file) => `panel serve ${file} --address 0.0.0.0 --port $PORT ${ANY_NAME}`),
  ofFile('bokeh', 'Bokeh', (file) => `bokeh serve ${file} --address 0.0.0.0 --port $PORT ${ANY_NAME}`),
  {
    package: 'aiohttp',
    title: 'aiohttp',
    line: new RegExp(`${NAME}Application\\(`),
    command: (_, module) => `gunicorn --bind 0.0.0.0:$PORT --worker-class aiohttp.GunicornWebWorker ${module}`,
    server: 'gunicorn',
  },
];

/** How an app is started that has no process of its own. */
export interface AppServer extends PlannedProcess {
  /** The package of its server; null: it comes with the app's own. */
  readonly server: string | null;
  readonly problems?: readonly PlanProblem[];
}

export async function ownServer(
  files: SourceFiles,
  required: Required,
  servers: readonly OwnServer[],
): Promise<AppServer | null> {
  for (const { package: name, line, command, server = null } of servers) {
    if (!required.has(name)) continue;
    for (const pattern of PLACES.flatMap((place) => MODULES.map((module) => `${place}${module}.py`))) {
      const found = await appIn(files, pattern, line);
      if (found === null) continue;
      const { file, match } = found;
      return { command: command(file, `${moduleOf(file)}:${match[1] ?? ''}`), from: file, server };
    }
  }
  return null;
}

export function titleOfOwn(required: Required): string | null {
  return [...CHOSEN_FIRST, ...OTHERS].find(({ package: name }) => required.has(name))?.title ?? null;
}
