/** What other platforms honour, and what a push says of an app that serves no page. Nothing is fetched. */
import { json, nodeServer, type PushedApps } from './pushed-app.ts';

const SERVER = { 'server.js': nodeServer('"from server.js"') };
const STARTED = { '/': 'from server.js' };
const NODE = process.versions.node.split('.')[0] ?? '';

export const CONVENTIONS: PushedApps = {
  'a formation in app.json, with a process of which nothing runs': {
    files: {
      ...SERVER,
      Procfile: 'web: node server.js\nworker: node -e "process.exit(3)"\n',
      'app.json': json({ formation: { web: { quantity: 2 }, worker: { quantity: 0 } } }),
    },
    says: ['Starting release 1 (web: 2, worker: 0)'],
    pages: STARTED,
  },
  'a worker that fails in the first version': {
    files: {
      ...SERVER,
      Procfile: 'web: node server.js\nworker: node -e "console.log(\'no queue\'); process.exit(3)"\n',
    },
    says: ['code 3', 'no queue'],
    pages: STARTED,
  },
  'the Node of .tool-versions': {
    files: { ...SERVER, 'package.json': json({ name: 'x' }), '.tool-versions': `python 3.1\nnodejs ${NODE}\n` },
    says: [`.tool-versions asks for ${NODE}`],
    pages: STARTED,
  },
  'a Compose file beside an app': {
    files: { ...SERVER, 'compose.yaml': 'services:\n  web: { build: . }\n  db: { image: "postgres:16" }\n' },
    says: ['postgres'],
    pages: STARTED,
  },
  'variables of app.json that only a person knows': {
    files: {
      'server.js': nodeServer('`${process.env.GREETING} ${process.env.TOKEN}`'),
      'app.json': json({ env: { GREETING: 'hello', TOKEN: { required: true } }, scripts: { postdeploy: 'rake seed' } }),
    },
    says: ['TOKEN', 'postdeploy is not run'],
    pages: { '/': 'hello undefined' },
  },
  'an app whose page fails': {
    files: { 'server.js': nodeServer('(answer.statusCode = 500, "no table")') },
    says: ['To a request for / the app answers 500.', 'tancho app log'],
    pages: { '/': 'no table' },
  },
  'a page whose script is not there': {
    files: {
      'public/index.html': '<!doctype html><script type="module" src="/lost.js"></script><div id="app"></div>',
      'public/up.txt': 'up',
    },
    says: ['Its page names /lost.js, which the app answers with 404'],
    pages: { '/up.txt': 'up' },
  },
};
