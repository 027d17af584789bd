import { expect } from 'vitest';
import { type CertificateRecord, newRecord } from '../../../domain/certificates/certificate.ts';
import type { StoreCases } from './case.ts';
import { AT } from './records.ts';

export function certificate(id: string, more: Partial<CertificateRecord> = {}): CertificateRecord {
  return { ...newRecord(id, [`${id}.example.com`], '', new Date(AT)), ...more };
}

export const certificateCases: StoreCases = {
  'gives back certificates with every field, sorted by names': async (store) => {
    expect(await store.certificates()).toEqual([]);
    const whole = certificate('b', {
      names: ['*.example.com', 'example.com'],
      source: 'upload',
      app: 'shop',
      state: 'failed',
      cause: 'no_address',
      problem: 'It has no address.',
      failures: 3,
      nextAttemptAt: AT,
      chain: 'a chain',
      key: 'a key',
      issuer: 'An authority',
      notBefore: AT,
      notAfter: AT,
      askAgainAt: AT,
      authority: 'ca.example.com',
      orderUrl: 'https://ca.example.com/order/1',
      pendingKey: 'another key',
    });
    await store.transact(async (tx) => {
      await tx.putCertificate(certificate('z'));
      await tx.putCertificate(whole);
    });
    expect(await store.certificates()).toEqual([whole, certificate('z')]);
    expect(await store.certificates(['z', 'none'])).toEqual([certificate('z')]);
    expect(await store.certificates([])).toEqual([]);
    const without = ({ key: _key, pendingKey: _pending, ...shown }: CertificateRecord) => shown;
    expect(await store.certificatesWithoutKeys()).toEqual([without(whole), without(certificate('z'))]);
    expect(await store.certificatesWithoutKeys(['z', 'none'])).toEqual([without(certificate('z'))]);
    expect(await store.certificatesWithoutKeys([])).toEqual([]);
    const { chain: _chain, ...summary } = without(whole);
    const { chain: _none, ...other } = without(certificate('z'));
    expect(await store.certificateSummaries()).toEqual([summary, other]);
    expect(await store.certificate('b')).toEqual(whole);
    expect(await store.certificate('none')).toBeNull();
  },

  'replaces and removes certificates': async (store) => {
    await store.transact((tx) => tx.putCertificate(certificate('a', { key: 'a key', pendingKey: 'another' })));
    const next = certificate('a', { state: 'issued', cause: null, nextAttemptAt: null, key: 'the next key' });
    await store.transact((tx) => tx.putCertificate(next));
    expect(await store.certificates()).toEqual([next]);
    await store.transact((tx) => tx.deleteCertificate('a'));
    await store.transact((tx) => tx.deleteCertificate('a'));
    expect(await store.certificates()).toEqual([]);
  },

  'keeps who we are at an authority': async (store, under) => {
    expect(await store.identity('ca')).toBeNull();
    await store.transact((tx) => tx.putIdentity({ authority: 'ca', key: 'a key', account: '' }));
    await store.transact((tx) => tx.putIdentity({ authority: 'ca', key: 'a key', account: 'https://ca/1' }));
    await store.transact((tx) => tx.putIdentity({ authority: 'other', key: 'its key', account: '' }));
    expect(await (await under.again()).identity('ca')).toEqual({
      authority: 'ca',
      key: 'a key',
      account: 'https://ca/1',
    });
  },
};
