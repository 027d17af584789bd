/**
 * The server that the contract is asked of: the one at BASE_URL (with ADMIN_EMAIL and ADMIN_PASSWORD), or, without it, the
 * API of this source over the real use cases and stores, with units and builds in memory.
 */
import { inject } from 'vitest';
import { startDomainApi } from '../support/domain-api.ts';
import { ADMIN } from '../support/memory-api.ts';
import { openGitDeploys } from './git-deploys.ts';
import { type Target, targetAt } from './target.ts';

declare module 'vitest' {
  interface ProvidedContext {
    contractServer: { readonly baseUrl: string; readonly adminEmail: string; readonly adminPassword: string };
  }
}

export interface OpenTarget {
  readonly target: Target;
  dispose(): Promise<void>;
}

export async function openTarget(): Promise<OpenTarget> {
  const { baseUrl, ...admin } = inject('contractServer');
  if (baseUrl !== '') {
    const url = baseUrl.replace(/\/+$/, '');
    const deploys = await openGitDeploys(url);
    const target = await targetAt({ baseUrl: url, ...admin, deploy: deploys.deploy });
    return { target, dispose: deploys.dispose };
  }
  const api = await startDomainApi();
  const target = await targetAt({
    baseUrl: api.baseUrl,
    adminEmail: ADMIN.email,
    adminPassword: ADMIN.password,
    deploy: (app, _token, processes = ['web']) =>
      api.deploy(app, {
        processes: Object.fromEntries(processes.map((name) => [name, name === 'web' ? 'serve' : 'stay'])),
      }),
    letterTo: (email) => api.letters.findLast((letter) => letter.to === email)?.text ?? '',
  });
  return { target, dispose: api.dispose };
}
