import { afterEach, expect, it } from 'vitest';
import { type CertificateRecord, newRecord } from '../../src/domain/certificates/certificate.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';

let world: DomainWorld | null = null;
afterEach(() => world?.dispose());

/** With one failed attempt for the app's name, where clients come by TLS or do not. */
async function diagnosed(tlsPort: number | null, change: Partial<CertificateRecord>) {
  world = await startDomain({ tlsPort: () => tlsPort });
  await world.createApp('shop');
  await world.deploy('shop');
  const record = newRecord('c', ['shop.apps.test'], 'shop', new Date());
  await world.machine.store.transact((tx) => tx.putCertificate({ ...record, state: 'failed', ...change }));
  return world.useCases.diagnoses.ofApp(ANN, 'shop');
}

const problem = 'shop.apps.test has no A or AAAA record.';

it('a name that gets no certificate is not well, though it answers', async () => {
  expect(await diagnosed(443, { cause: 'no_address', problem })).toMatchObject({
    answers: true,
    well: false,
    broken: {
      link: 'certificate',
      cause: `There is no certificate for shop.apps.test: ${problem}`,
      command: 'tancho cert why shop.apps.test',
    },
  });
});

it.each([
  [
    'that is still good, although its renewal fails',
    443,
    { problem, chain: 'a chain', notAfter: '2100-01-01T00:00:00.000Z' },
  ],
  ['that nobody would see', null, { problem }],
])('a certificate %s breaks nothing', async (_, port, change) => {
  expect(await diagnosed(port, change)).toMatchObject({ well: true, broken: null });
});
