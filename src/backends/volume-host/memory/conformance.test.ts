import { volumePath } from '../../../domain/volumes/volume-host.ts';
import { volumeHostConformance } from '../conformance.ts';
import { MemoryVolumes } from './memory-volumes.ts';

volumeHostConformance('memory', async () => {
  const host = new MemoryVolumes();
  return {
    host,
    write: async (volume, bytes) => void host.sizes.set(volumePath(volume), bytes),
    dispose: async () => {},
  };
});
