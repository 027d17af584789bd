import { routerConformance } from '../conformance.ts';
import { createMemoryRouter } from './memory-router.ts';

routerConformance('memory', async () => {
  const router = await createMemoryRouter({ listen: { host: '127.0.0.1', port: 0 } });
  return { router, dispose: () => router.stop() };
});
