/** Next steps of volumes that a push cannot have as it asks. */
import { nodeServer } from '../pushed/pushed-app.ts';
import type { HintRow } from './hint-row.ts';

const SERVER = { 'server.js': nodeServer('"mended"') };
const page = 'mended';
const MOUNTS = 'domain/volumes/release-mounts.ts';

export const VOLUME_ROWS: Readonly<Record<string, HintRow>> = {
  'a volume that is too large': {
    from: 'domain/volumes/declared-volumes.ts',
    cause: 'invalid_config',
    env: { TANCHO_VOLUMES_MAX_SIZE: '10M' },
    files: { ...SERVER, 'tancho.yaml': 'volumes: { data: { path: data, size: 1G } }\n' },
    hint: 'Ask for less in tancho.yaml, or ask an admin to make the volume.',
    follow: [{ edit: { 'tancho.yaml': 'volumes: { data: { path: data, size: 5M } }\n' } }],
    page,
  },
  'a volume outside of the code, where nothing can be mounted': {
    from: MOUNTS,
    cause: 'invalid_config',
    env: { TANCHO_ISOLATION: 'user', TANCHO_UNITS_START_TIMEOUT: '5s' },
    files: { ...SERVER, 'tancho.yaml': 'volumes: { data: /data }\n' },
    hint: 'Mount it at a path below the code, such as data; or ask an operator to install bubblewrap.',
    follow: [{ edit: { 'tancho.yaml': 'volumes: { data: data }\n' } }],
    page,
  },
  'a volume that only one unit may have': {
    from: MOUNTS,
    cause: 'invalid_config',
    files: {
      ...SERVER,
      'tancho.yaml':
        'processes: { web: { command: node server.js, count: 2 } }\nvolumes: { data: { path: data, single: true } }\n',
    },
    hint: 'Mount it for one process with one unit: tancho volume mount data <path> --process <process> -a APP; or let several have it: tancho volume update data --shared -a APP',
    follow: [{ tancho: {}, begins: 'volume update' }],
    page,
  },
  'a volume where the code has something': {
    from: 'backends/provisioner/process/volume-mounts.ts',
    cause: 'invalid_config',
    before: ['volume create data -a APP', 'volume mount data lib -a APP'],
    env: { TANCHO_ISOLATION: 'user', TANCHO_UNITS_START_TIMEOUT: '5s' },
    files: { ...SERVER, 'lib/a.js': '' },
    hint: 'Mount it at another path and push again: tancho volume mount data <path>   (or where tancho.yaml says it)',
    follow: [{ tancho: { '<path>': 'kept' } }],
    page,
  },
};
