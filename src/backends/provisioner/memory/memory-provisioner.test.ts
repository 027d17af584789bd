import { provisionerConformance } from '../conformance.ts';
import { MEMORY_COMMANDS } from './memory-commands.ts';
import { createMemoryProvisioner, MemoryMachine } from './memory-provisioner.ts';

for (const restarts of ['platform', 'engine'] as const) {
  provisionerConformance(`memory (restarts by the ${restarts})`, {
    restarts,
    create: async () => {
      const machine = new MemoryMachine(restarts);
      let current = createMemoryProvisioner(machine);
      return {
        provisioner: current,
        artifact: 'any',
        commands: MEMORY_COMMANDS,
        restart: async () => {
          await current.close();
          current = createMemoryProvisioner(machine);
          return current;
        },
        killBehind: (id) => machine.kill(id),
        dispose: async () => {
          await current.close();
          await machine.dispose();
        },
      };
    },
    supports: { memoryLimit: true, shell: true },
    isCheap: true,
  });
}
