/** Crystal: one program, built by shards. */
import { firstSign, type Language } from '../../src/build-plan/language.ts';

const MANIFEST = 'shard.yml';

export const crystal: Language = {
  name: 'crystal',
  description: 'Crystal programs built by shards',
  example: 'bin/web',
  signs: [MANIFEST],
  tools: [{ program: 'shards', install: { 'apt-get': 'apt-get install crystal', brew: 'brew install crystal' } }],
  detect: (files) => firstSign(files, { manifest: [MANIFEST] }),

  async plan(files, asked) {
    const isLocked = (await files.find('shard.lock')) !== null;
    return {
      title: 'Crystal with shards',
      tools: crystal.tools,
      dependencies: [
        {
          name: 'shards',
          key: { files: [MANIFEST, 'shard.lock'] },
          keep: { kind: 'restored', directory: 'lib' },
          steps: [{ name: 'shards install', run: ['shards', 'install', ...(isLocked ? ['--frozen'] : [])] }],
        },
      ],
      steps: [{ name: 'shards build', run: ['shards', 'build', '--release'] }],
      processes: { web: { command: `bin/${asked.app}`, from: 'the name of the app' } },
      warnings: isLocked ? [] : ['there is no shard.lock: each build takes the newest versions of the shards'],
    };
  },
};
