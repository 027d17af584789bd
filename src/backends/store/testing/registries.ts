import { expect } from 'vitest';
import type { RegistryLogin } from '../../../domain/registries/registry-login.ts';
import type { StoreCases } from './case.ts';
import { AT, LATER } from './records.ts';

function login(host: string, more: Partial<RegistryLogin> = {}): RegistryLogin {
  return {
    host,
    team: '',
    user: 'robot',
    password: `secret of ${host}`,
    by: 'ann@example.com',
    createdAt: AT,
    ...more,
  };
}

export const registryCases: StoreCases = {
  'logins come back sorted, one per registry and team, and go one by one': async (store) => {
    await store.transact(async (tx) => {
      for (const team of ['red', '']) await tx.putRegistryLogin(login('b.example.com', { team }));
      await tx.putRegistryLogin(login('a.example.com:5000'));
    });
    const changed = login('b.example.com', { team: 'red', user: 'other', password: 'new', createdAt: LATER });
    await store.transact((tx) => tx.putRegistryLogin(changed));
    expect(await store.registryLogins()).toEqual([login('a.example.com:5000'), login('b.example.com'), changed]);
    expect(await store.transact((tx) => tx.deleteRegistryLogin('b.example.com', 'red'))).toBe(true);
    expect(await store.transact((tx) => tx.deleteRegistryLogin('b.example.com', 'red'))).toBe(false);
    expect(await store.registryLogins()).toEqual([login('a.example.com:5000'), login('b.example.com')]);
  },
};
