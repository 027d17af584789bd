import { routerConformance } from '../conformance.ts';
import { tlsConformance } from '../conformance-tls.ts';
import { createMemoryRouter } from './memory-router.ts';

routerConformance('memory', async () => {
  const router = await createMemoryRouter({ listen: { host: '127.0.0.1', port: 0 } });
  return { router, dispose: () => router.stop() };
});

tlsConformance('memory', {
  start: async () => {
    const anyPort = { host: '127.0.0.1', port: 0 };
    const router = await createMemoryRouter({ listen: anyPort, tls: anyPort });
    return { router, dispose: () => router.stop() };
  },
});
