/** Metadata (specification 4.11), and whether the server is ready. */
import { json, type Operation, text } from '../operation.ts';

export const metadataOperations: readonly Operation[] = [
  json({
    id: 'metadata.info',
    section: '4.11',
    summary: 'Show the version of the platform.',
    method: 'GET',
    path: '/info',
    access: 'public',
    shape: 'metadata',
    errors: [],
    handle: async ({ version }) => ({ version }),
  }),
  text({
    id: 'metadata.healthcheck',
    section: null,
    summary: 'Say whether the platform is ready.',
    method: 'GET',
    path: '/healthcheck',
    access: 'public',
    errors: [],
    handle: async ({ ready }) => {
      await ready();
      return 'WORKING';
    },
  }),
];
