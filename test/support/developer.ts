/** A whole platform, and somebody who may push to it. */
import { allowPush, createIdentity, createWorkTree, type Identity, type WorkTree } from './git.ts';
import { startWorld, type World, type WorldOptions } from './world.ts';

export interface Developer {
  readonly world: World;
  readonly identity: Identity;
  /** Of the admin, who has the key. */
  readonly token: string;
  /** Answers where to push it. */
  createApp(name: string, platform?: string): Promise<string>;
  /** A repository of these files that the developer pushes from; goes with the platform. */
  createTree(files: Readonly<Record<string, string>>): Promise<WorkTree>;
  dispose(): Promise<void>;
}

export async function startDeveloper(options: WorldOptions = {}): Promise<Developer> {
  const world = await startWorld(options);
  const identity = await createIdentity();
  const token = await allowPush(world, identity);
  const trees: WorkTree[] = [];
  return {
    world,
    identity,
    token,
    async createApp(name, platform = 'nodejs') {
      const answer = await world.api('POST', '/apps', { token, body: JSON.stringify({ name, platform }) });
      if (answer.status !== 200) throw new Error(`creating ${name}: ${answer.status} ${answer.text}`);
      return answer.json<{ repository_url: string }>().repository_url;
    },
    async createTree(files) {
      const tree = await createWorkTree(files, identity);
      trees.push(tree);
      return tree;
    },
    async dispose() {
      for (const tree of trees) await tree.dispose();
      await world.dispose();
      await identity.dispose();
    },
  };
}
