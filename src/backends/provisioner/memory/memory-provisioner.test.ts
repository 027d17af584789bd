import { provisionerConformance } from '../conformance.ts';
import { createMemoryProvisioner, MemoryMachine } from './memory-provisioner.ts';

provisionerConformance('memory', {
  create: async () => {
    const machine = new MemoryMachine();
    let current = createMemoryProvisioner(machine);
    return {
      provisioner: current,
      artifact: 'any',
      commands: {
        serve: 'serve',
        serveElsewhere: 'serve-elsewhere',
        exit3: 'print last words; exit 3',
        killSelf: 'die SIGKILL',
        printAndStay: 'print one; print two; print three; stay',
        printEnvironment: 'print $TANCHO_APP $TANCHO_UNIT $TANCHO_PROCESS $GREETING',
        stubborn: 'ignore-term; print ready; stay',
        grow: 'take 1000000000; stay',
        printMuch: 'print-much 40000; print last; stay',
        runAndFail: 'print out; print err; exit 4',
        runLong: 'stay',
      },
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
});
