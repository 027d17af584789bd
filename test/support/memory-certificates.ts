/** Certificates for tests of the API alone: one local, none of anybody. */
import { demand } from '../../src/domain/access.ts';
import type { Certificates } from '../../src/domain/certificates/certificates.ts';
import { checkUpload } from '../../src/domain/certificates/upload.ts';
import { newRecord } from '../../src/domain/certificates/certificate.ts';
import { PlatformError } from '../../src/domain/errors.ts';
import type { Memory } from './memory-state.ts';

export function certificatesIn(memory: Memory): Certificates {
  const missing = (name: string): PlatformError =>
    new PlatformError('certificate.not_found', `There is no certificate for ${name}.`, {
      hint: 'See which there are: tancho cert list',
    });
  return {
    async list(caller) {
      demand(caller, 'cert.list');
      return [];
    },
    async why(caller, name) {
      demand(caller, 'cert.list');
      throw missing(name);
    },
    async renew(caller, name) {
      demand(caller, 'cert.list');
      throw missing(name);
    },
    async add(caller, { chain, key, app }) {
      if (app === '') demand(caller, 'cert.add');
      else memory.allowed(caller, 'cert.add', app);
      const { facts, notes } = checkUpload(chain, key, new Date());
      const { key: _key, pendingKey: _pending, ...record } = newRecord('c', facts.names, app, new Date());
      return { view: { record, isPresented: true, isExpired: false, nextStep: '' }, notes };
    },
    async remove(caller, name) {
      demand(caller, 'cert.list');
      throw missing(name);
    },
    async authority(caller) {
      demand(caller, 'cert.authority');
      return { name: 'local', isLocal: true, root: '', fingerprint: '', persistRecord: null };
    },
  };
}
