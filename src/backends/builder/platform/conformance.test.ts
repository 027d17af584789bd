import { treeOf } from '../../../../test/support/source-trees.ts';
import { builderWorld } from '../../../../test/support/builder-world.ts';
import { builderConformance } from '../conformance.ts';

const APP = { 'package.json': '{"name":"x"}', 'server.js': '' };

function sample(files: Record<string, string>, platform = 'nodejs') {
  return { platform, source: treeOf(files) };
}

builderConformance('platform', async () => {
  const { artifacts, builder, dispose } = await builderWorld();
  return {
    artifacts,
    builder,
    dispose,
    good: sample(APP),
    talkative: sample({ ...APP, 'tancho.yaml': 'hooks: { build: ["echo canary is $CANARY"] }' }),
    failing: sample({ ...APP, 'tancho.yaml': 'hooks: { build: ["echo before the end; exit 7"] }' }),
    endless: sample({ ...APP, 'tancho.yaml': 'hooks: { build: ["echo waiting; sleep 300"] }' }),
    foreign: sample({ 'go.mod': 'module x' }),
    processless: sample({ 'package.json': '{}' }),
    garbled: sample({ ...APP, Procfile: 'web: node server.js\nworker node worker.js\n' }),
  };
});
