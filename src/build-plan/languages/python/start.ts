/** What starts an app that has no Procfile, and the server that it needs for it. */
import type { PlannedProcess, PlanProblem } from '../../build-plan.ts';
import type { AppDeclaration } from '../../language.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import { calledProgram } from './called-program.ts';
import { djangoModule, type DjangoProject } from './django.ts';
import { appIn, moduleOf, MODULES, PLACES } from './modules.ts';
import { CHOSEN_FIRST, type AppServer, OTHERS, ownServer, titleOfOwn } from './own-servers.ts';
import { notListed } from './not-listed.ts';
import type { Required } from './required.ts';

interface Start {
  readonly title: string;
  readonly processes: Readonly<Record<string, PlannedProcess>>;
  /** Packages that it needs and that the source does not ask for. */
  readonly adds: readonly string[];
  readonly notes: readonly string[];
  readonly problems: readonly PlanProblem[];
}

/** Program -> package. */
const SERVERS: Readonly<Record<string, string>> = {
  gunicorn: 'gunicorn',
  uvicorn: 'uvicorn',
  hypercorn: 'hypercorn',
  daphne: 'daphne',
  'waitress-serve': 'waitress',
};
const ASGI_FRAMEWORKS = ['FastAPI', 'Starlette', 'Litestar', 'Quart', 'BlackSheep'];
const WSGI_FRAMEWORKS = ['Flask', 'Bottle', 'Falcon', 'Pyramid'];
const MADE = new RegExp(
  `^(\\w+)\\s*(?::\\s*[\\w.]+\\s*)?=\\s*(?:[\\w]+\\.)?(${[...ASGI_FRAMEWORKS, 'Flask', 'Bottle'].join('|')})\\(`,
);
/** `app = None` is made later, by what has to be called. */
const NAMED = /^(application|app)\s*(?::\s*[\w.]+\s*)?=(?!\s*None\b)/;
const PAGES = ['streamlit_app.py', 'app.py', 'main.py', 'Home.py', 'src/app.py', 'src/main.py'];

export async function startOf(
  files: SourceFiles,
  required: Required,
  django: DjangoProject | null,
  asked: AppDeclaration,
): Promise<Start> {
  const isDjango = django !== null && (required.has('django') || django.settings.length > 0);
  const title = isDjango ? 'Django' : (frameworkOf(required) ?? 'Python');
  const nothing: Start = { title, processes: {}, adds: [], notes: [], problems: [] };
  if (asked.processes !== null) return { ...nothing, ...serversOf(asked.processes, required) };
  if (required.has('reflex') && (await files.exists('rxconfig.py'))) return { ...nothing, problems: [reflex(asked)] };
  const found =
    (django === null ? null : await djangoStart(files, required, django)) ??
    (await streamlitStart(files, required, usualPage)) ??
    (await ownServer(files, required, CHOSEN_FIRST)) ??
    (await moduleStart(files, required)) ??
    (await ownServer(files, required, OTHERS)) ??
    (await programStart(files)) ??
    (await streamlitStart(files, required, onlyPage));
  if (found === null) return nothing;
  const { server, command, from } = found;
  const started = { ...nothing, processes: { web: { command, from } }, problems: found.problems ?? [] };
  if (server === null || has(required, server)) return started;
  return { ...started, adds: [server], notes: [`${server} serves the app, whose packages name no server`] };
}

/** With which server is such an app served? */
function serve(required: Required, kind: 'wsgi' | 'asgi', module: string, from: string, chdir = ''): AppServer {
  const inside = chdir === '' ? '' : ` --chdir ${chdir}`;
  if (kind === 'wsgi') {
    if (!required.has('gunicorn') && required.has('waitress') && chdir === '') {
      const target = module.includes(':') ? module : `${module}:application`;
      return { command: `waitress-serve --listen 0.0.0.0:$PORT ${target}`, from, server: 'waitress' };
    }
    return { command: `gunicorn --bind 0.0.0.0:$PORT${inside} ${module}`, from, server: 'gunicorn' };
  }
  const directory = chdir === '' ? '' : ` --app-dir ${chdir}`;
  if (!has(required, 'uvicorn') && required.has('hypercorn') && chdir === '') {
    return { command: `hypercorn --bind 0.0.0.0:$PORT ${module}`, from, server: 'hypercorn' };
  }
  return { command: `uvicorn --host 0.0.0.0 --port $PORT${directory} ${module}`, from, server: 'uvicorn' };
}

/** An extra of a framework may bring its server. */
function has(required: Required, server: string): boolean {
  if (required.has(server)) return true;
  const servers = ['fastapi[standard]', 'fastapi[all]', 'litestar[standard]', 'uvicorn[standard]', 'fastapi-cli'];
  return server === 'uvicorn' && required.first(...servers) !== null;
}

async function djangoStart(files: SourceFiles, required: Required, django: DjangoProject): Promise<AppServer | null> {
  const wsgi = await djangoModule(files, django, 'wsgi');
  const asgi = await djangoModule(files, django, 'asgi');
  const { directory } = django;
  // What only answers WSGI cannot serve what ASGI is chosen for; what both can serve, the server decides.
  const isAsgi = asgi !== null && (wsgi === null || (!required.has('gunicorn') && asgiServer(required)));
  if (isAsgi && required.has('daphne') && !required.has('uvicorn') && directory === '') {
    const command = `daphne -b 0.0.0.0 -p $PORT ${asgi.module}:application`;
    return { command, from: asgi.from, server: 'daphne' };
  }
  if (isAsgi) return serve(required, 'asgi', `${asgi.module}:application`, asgi.from, directory);
  return wsgi === null ? null : serve(required, 'wsgi', wsgi.module, wsgi.from, directory);
}

function asgiServer(required: Required): boolean {
  return required.first('daphne', 'uvicorn', 'hypercorn') !== null;
}

type FindPage = (files: SourceFiles) => Promise<string | null>;

async function streamlitStart(files: SourceFiles, required: Required, find: FindPage): Promise<AppServer | null> {
  const page = required.has('streamlit') ? await find(files) : null;
  if (page === null) return null;
  const address = '--server.address 0.0.0.0 --server.port $PORT --server.headless true';
  return { command: `streamlit run ${page} ${address}`, from: page, server: null };
}

async function usualPage(files: SourceFiles): Promise<string | null> {
  for (const page of PAGES) if (await isPage(files, page)) return page;
  return null;
}

/** At the top. */
async function onlyPage(files: SourceFiles): Promise<string | null> {
  const found: string[] = [];
  for (const path of await files.findAll('*.py')) {
    if (/^(?!test_)[\w-]+(?<!_test)\.py$/.test(path) && (await isPage(files, path))) found.push(path);
  }
  return found.length === 1 ? (found[0] ?? null) : null;
}

function isPage(files: SourceFiles, path: string): Promise<boolean> {
  return files.hasLine(path, /^\s*(?:import|from)\s+streamlit\b/);
}

/** A module that makes the app under a usual name. */
async function moduleStart(files: SourceFiles, required: Required): Promise<AppServer | null> {
  const isAsgi = required.first(...ASGI_FRAMEWORKS) !== null;
  const isKnown = isAsgi || required.first(...WSGI_FRAMEWORKS, 'gunicorn', 'waitress') !== null;
  for (const place of PLACES) {
    const patterns = MODULES.map((name) => `${place}${name}.py`);
    for (const pattern of patterns) {
      const made = await appIn(files, pattern, MADE);
      if (made === null) continue;
      const [, name = '', framework = ''] = made.match;
      const kind = ASGI_FRAMEWORKS.includes(framework) ? 'asgi' : 'wsgi';
      const found = serve(required, kind, `${moduleOf(made.file)}:${name}`, made.file);
      return { ...found, problems: required.isEmpty ? [await notListed(files, made, framework)] : [] };
    }
    for (const pattern of isKnown ? patterns : []) {
      const named = await appIn(files, pattern, NAMED);
      if (named === null) continue;
      const name = named.match[1] ?? '';
      const target = name === 'application' && !isAsgi ? '' : `:${name}`;
      return serve(required, isAsgi ? 'asgi' : 'wsgi', `${moduleOf(named.file)}${target}`, named.file);
    }
  }
  const factory = isKnown && !isAsgi ? await appIn(files, '*/__init__.py', /^def (create_app|make_app)\(/) : null;
  if (factory === null) return null;
  return serve(required, 'wsgi', `'${moduleOf(factory.file)}:${factory.match[1] ?? ''}()'`, factory.file);
}

function reflex({ app }: AppDeclaration): PlanProblem {
  return {
    cause: 'no_process',
    message:
      'rxconfig.py is of Reflex, which builds its pages with Node beside its server in Python: this platform does not.',
    hint: `Add a Dockerfile that builds and starts it, commit and push again after: tancho app update ${app} --platform dockerfile`,
  };
}

/** What asks for its port, else what begins a server: whichever port that has, it is found. */
const SERVES = [
  /(?:environ|getenv)\b.{0,20}["']PORT["']/,
  /^\s*(?:import|from)\s+(?:http\.server|socketserver|wsgiref|tornado\.web|cherrypy|twisted\.web|uvicorn|hypercorn|waitress)\b/,
];

/** A program that answers requests by itself. */
async function programStart(files: SourceFiles): Promise<AppServer | null> {
  for (const serves of SERVES) {
    for (const program of ['main.py', 'app.py', 'server.py', 'bot.py', 'run.py']) {
      const found = await files.findLine(program, serves);
      if (found !== null) return { command: `python ${program}`, from: `${program} line ${found.line}`, server: null };
    }
  }
  return null;
}

/** Names that a program without a framework has, and packages of bots, which answer no requests. */
const USUAL = ['bot.py', 'main.py', 'app.py', 'run.py', 'server.py', 'src/main.py', 'src/bot.py'];
const OF_BOTS = [
  ...['discord.py', 'discord', 'py-cord', 'nextcord', 'disnake', 'hikari', 'slack-bolt', 'tweepy'],
  ...['python-telegram-bot', 'aiogram', 'pyTelegramBotAPI', 'telethon', 'pyrogram'],
];

/** What a program of a usual name is to be called by, for it is not known to answer requests; none: nothing can be said. */
export async function askForProcess(files: SourceFiles, required: Required): Promise<PlanProblem[]> {
  const program = await files.find(...USUAL);
  if (program === null) return [];
  const isBot = required.first(...OF_BOTS) !== null || program.endsWith('bot.py');
  const [first, second] = isBot
    ? [`"worker: python ${program}"`, 'what answers requests is called web, and listens on $PORT']
    : [`"web: python ${program}", which is to listen on $PORT`, 'what answers no requests is called worker'];
  return [
    {
      cause: 'no_process',
      message: `Nothing says how the app is started; ${program} looks like it, and does not say whether it answers requests.`,
      hint: `Add a file named Procfile at the top of the repository, for example ${first}; ${second}. Then commit and push again.`,
    },
  ];
}

function frameworkOf(required: Required): string | null {
  return required.first('Django', 'Streamlit', ...ASGI_FRAMEWORKS, ...WSGI_FRAMEWORKS) ?? titleOfOwn(required);
}

/** The servers that the app's own processes are started with. */
function serversOf(processes: Readonly<Record<string, string>>, required: Required): Pick<Start, 'adds' | 'notes'> {
  const adds = new Set<string>();
  const notes: string[] = [];
  for (const [name, command] of Object.entries(processes)) {
    const program = calledProgram(command);
    const server = Object.hasOwn(SERVERS, program) ? SERVERS[program] : undefined;
    if (server === undefined || adds.has(server) || has(required, server)) continue;
    adds.add(server);
    notes.push(`${server} is installed, too: the process ${name} is started with it, and no list of packages names it`);
  }
  return { adds: [...adds], notes };
}
