import { createServer } from 'node:http';

const unit = process.env.TANCHO_UNIT ?? 'hello-node/0';
const app = unit.split('/')[0];
const startedAt = new Date();

const escape = (text) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

const page = () => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <title>${escape(app)}</title>
    <style>
      body { font: 18px/1.6 system-ui, sans-serif; margin: 0; min-height: 100vh; display: grid; place-items: center; background: #f7f5f2; color: #23211f; }
      main { padding: 2rem; max-width: 32rem; }
      h1 { font-size: 2.4rem; margin: 0 0 .5rem; }
      h1::before { content: ""; display: inline-block; width: .7em; height: .7em; border-radius: 50%; background: #d7263d; margin-right: .4em; }
      dl { display: grid; grid-template-columns: auto 1fr; gap: .2rem 1rem; }
      dt { color: #76716b; }
      dd { margin: 0; font-family: ui-monospace, monospace; }
    </style>
  </head>
  <body>
    <main>
      <h1>Hello from ${escape(app)}</h1>
      <p>This page is served by your app. Change <code>server.js</code>, commit and push, and it changes too.</p>
      <dl>
        <dt>App</dt><dd>${escape(app)}</dd>
        <dt>Unit</dt><dd>${escape(unit)}</dd>
        <dt>Node</dt><dd>${process.version}</dd>
        <dt>Up since</dt><dd>${startedAt.toISOString()}</dd>
      </dl>
    </main>
  </body>
</html>
`;

const server = createServer((request, response) => {
  if (request.url === '/health') {
    response.writeHead(200, { 'content-type': 'text/plain' }).end('ok\n');
    return;
  }
  console.log(`${request.method} ${request.url}`);
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page());
});

server.listen(process.env.PORT ?? 8080, '0.0.0.0', () => console.log(`listening on port ${server.address().port}`));

// Asked to stop: finish the requests that are under way, then end.
process.on('SIGTERM', () => {
  server.close(() => process.exit(0));
  server.closeIdleConnections();
});
