import { createServer } from 'node:http';

const unit = process.env.TANCHO_UNIT ?? 'worker/0';
let requests = 0;

const server = createServer((request, response) => {
  requests += 1;
  console.log(`web ${unit}: request ${requests}: ${request.method} ${request.url}`);
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(`${JSON.stringify({ process: 'web', unit, requests })}\n`);
});

server.listen(process.env.PORT ?? 8080, '0.0.0.0', () =>
  console.log(`web ${unit}: listening on port ${server.address().port}`),
);

process.on('SIGTERM', () => {
  server.close(() => process.exit(0));
  server.closeIdleConnections();
});
