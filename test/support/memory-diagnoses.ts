/** Diagnoses of apps in memory: whatever was deployed is well. What can be broken is the subject of test/domain. */
import { demand } from '../../src/domain/access.ts';
import type { Diagnoses, Diagnosis } from '../../src/domain/diagnosis/diagnosis.ts';
import { PlatformError } from '../../src/domain/errors.ts';
import type { Memory } from './memory-state.ts';

export function diagnosesIn(memory: Memory): Diagnoses {
  const found = (app: string, host: string): Diagnosis => {
    const well = memory.records.get(app)?.release != null;
    const broken = well ? null : { link: 'deploy', cause: `Nothing was ever deployed to ${app}.`, command: 'git push' };
    const links = [{ link: 'deploy', asks: 'Has it been deployed?', state: well ? 'holds' : 'broken' } as const];
    return { app, host, url: `http://${host}`, answers: well, well, broken, links, notes: [] };
  };
  return {
    async ofApp(caller, name) {
      memory.allowed(caller, 'app.diagnosis', name);
      return found(name, `${name}.localhost`);
    },
    async ofAddress(caller, address) {
      demand(caller, 'app.list');
      if (typeof address !== 'string' || address === '') throw new PlatformError('input.invalid', 'No address.');
      return found(address.split('.')[0] ?? '', address);
    },
  };
}
