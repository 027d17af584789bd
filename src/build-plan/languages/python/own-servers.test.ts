import { expect, it } from 'vitest';
import { sourceOf } from '../../../../test/support/memory-source.ts';
import type { BuildPlan } from '../../build-plan.ts';
import { planSource } from '../../plan-source.ts';
import { python } from './python.ts';

async function plan(files: Record<string, string>): Promise<BuildPlan> {
  return (await planSource({ app: 'shop', platform: 'python', languages: [python], files: sourceOf(files) })).plan;
}

const web = ({ processes }: BuildPlan): string | undefined => processes['web']?.command;
const installs = ({ dependencies }: BuildPlan): string[] =>
  dependencies.flatMap((set) => set.steps.map(({ name }) => name)).filter((name) => name.startsWith('uv pip install '));

it.each<[string, string, string, string, string | null]>([
  ['python-fasthtml', 'main.py', 'app, rt = fast_app()\n', 'uvicorn --host 0.0.0.0 --port $PORT main:app', null],
  ['python-fasthtml', 'main.py', 'web = FastHTML()\n', 'uvicorn --host 0.0.0.0 --port $PORT main:web', null],
  ['dash', 'app.py', 'app = Dash()\nserver = app.server', 'gunicorn --bind 0.0.0.0:$PORT app:server', 'gunicorn'],
  ['dash', 'app.py', 'app = dash.Dash(', 'waitress-serve --listen 0.0.0.0:$PORT app:app.server', 'waitress'],
  ['sanic', 'server.py', 'app = Sanic("a")', 'sanic server:app --host 0.0.0.0 --port $PORT --single-process', null],
  ['robyn', 'app.py', 'app.start(port=8080)', 'ROBYN_HOST=0.0.0.0 ROBYN_PORT=$PORT python app.py', null],
  ['gradio', 'app.py', 'demo.launch()', 'GRADIO_SERVER_NAME=0.0.0.0 GRADIO_SERVER_PORT=$PORT python app.py', null],
  ['nicegui', 'main.py', 'if x:\n    ui.run()', 'python main.py', null],
  [
    'chainlit',
    'src/app.py',
    'import chainlit as cl',
    'chainlit run src/app.py --host 0.0.0.0 --port $PORT --headless',
    null,
  ],
  ['shiny', 'app.py', 'from shiny import ui', 'shiny run --host 0.0.0.0 --port $PORT app.py', null],
  ['solara', 'app.py', 'import solara', 'solara run app.py --host 0.0.0.0 --port $PORT --production', null],
  ['marimo', 'app.py', 'import marimo', 'marimo run app.py --host 0.0.0.0 --port $PORT --headless', null],
  [
    'panel',
    'app.py',
    'import panel as pn',
    "panel serve app.py --address 0.0.0.0 --port $PORT --allow-websocket-origin='*'",
    null,
  ],
  [
    'bokeh',
    'main.py',
    'from bokeh.io import curdoc',
    "bokeh serve main.py --address 0.0.0.0 --port $PORT --allow-websocket-origin='*'",
    null,
  ],
  [
    'aiohttp',
    'main.py',
    'app = web.Application()',
    'gunicorn --bind 0.0.0.0:$PORT --worker-class aiohttp.GunicornWebWorker main:app',
    'gunicorn',
  ],
])('of %s starts %s with %j by its own server', async (name, file, text, command, added) => {
  const made = await plan({ 'requirements.txt': `${name}\n`, [file]: text });
  expect([made.problems, web(made)]).toEqual([[], command]);
  expect(installs(made)).toEqual([
    'uv pip install (requirements.txt)',
    ...(added === null ? [] : [`uv pip install ${added}`]),
  ]);
});

it("what another framework serves is that one's", async () => {
  const files = { 'requirements.txt': 'fastapi\ngradio\naiohttp\n', 'main.py': 'app = FastAPI()\ndemo.launch()\n' };
  expect(web(await plan(files))).toBe('uvicorn --host 0.0.0.0 --port $PORT main:app');
});

it('Reflex, which wants two languages, is refused, unless the app says how it is started', async () => {
  const files = { 'requirements.txt': 'reflex\n', 'rxconfig.py': '' };
  expect((await plan(files)).problems).toMatchObject([
    { cause: 'no_process', hint: expect.stringContaining('tancho app update shop --platform dockerfile') as string },
  ]);
  expect((await plan({ ...files, Procfile: 'web: python serve.py\n' })).problems).toEqual([]);
});
