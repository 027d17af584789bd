import type { Store } from '../store.ts';
import type { Identities } from './authority-identity.ts';

export function storedIdentities(store: Store): Identities {
  return {
    identity: (authority) => store.identity(authority),
    keepIdentity: (identity) =>
      store.transact(async (tx) => {
        const known = await tx.identity(identity.authority);
        if (known !== null) return known;
        await tx.putIdentity(identity);
        return identity;
      }),
    setAccount: (authority, account) =>
      store.transact(async (tx) => {
        const known = await tx.identity(authority);
        if (known !== null) await tx.putIdentity({ ...known, account });
      }),
  };
}
