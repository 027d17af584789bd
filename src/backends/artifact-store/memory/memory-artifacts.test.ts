import { artifactStoreConformance } from '../conformance.ts';
import { MemoryArtifacts } from './memory-artifacts.ts';

artifactStoreConformance('memory', async () => {
  const store = new MemoryArtifacts();
  return { store, reopen: () => store, dispose: async () => {} };
});
