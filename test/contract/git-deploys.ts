/** Deploys for the contract as a user makes them: git push over HTTP, to any server. */
import { createWorkTree, nodeApp } from '../support/git.ts';
import type { Target } from './target.ts';

export interface GitDeploys {
  readonly deploy: NonNullable<Target['deploy']>;
  dispose(): Promise<void>;
}

export async function openGitDeploys(baseUrl: string): Promise<GitDeploys> {
  const work = await createWorkTree(nodeApp('hello'));
  return {
    async deploy(app, token, processes = ['web']) {
      const lines = processes.map((name) => `${name}: ${name === 'web' ? 'node server.js' : 'exec sleep 86400'}\n`);
      await work.write({ Procfile: lines.join('') });
      await work.commit();
      const url = new URL(`${baseUrl}/git/${app}.git`);
      url.username = 'token';
      url.password = token;
      const pushed = await work.push(url.href);
      if (pushed.code !== 0) throw new Error(`deploy of ${app}: ${pushed.stderr}`);
    },
    dispose: work.dispose,
  };
}
