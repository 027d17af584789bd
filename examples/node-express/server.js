import express from 'express';

const app = express();
app.disable('x-powered-by');

app.get('/', (request, response) => {
  console.log(`${request.method} ${request.url}`);
  response.json({ hello: 'from Express', unit: process.env.TANCHO_UNIT ?? null });
});

app.get('/health', (_request, response) => response.type('text').send('ok\n'));

const server = app.listen(process.env.PORT ?? 8080, '0.0.0.0', () => {
  console.log(`listening on port ${server.address().port}`);
});

process.on('SIGTERM', () => {
  server.close(() => process.exit(0));
  server.closeIdleConnections();
});
