import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import type { ImageFlags } from './image.ts';
import type { KubernetesFlags } from './kubernetes.ts';

const several = (one: string, before: readonly string[] = []): string[] => [...before, one];

export function registerInstall(install: Command, cli: Cli): void {
  install.addHelpText('after', '\nHow a platform in a cluster is set up, upgraded and removed: docs/controls.md.');
  install
    .command('kubernetes')
    .description('Print what makes several servers run in a Kubernetes cluster, or apply it')
    .option('--image <name>', 'image of Tancho: tancho install image makes one')
    .option('--database <url>', 'postgres://... (better: TANCHO_DATABASE_URL)')
    .option(
      '--secret-key <line>',
      'key that seals secrets (better: TANCHO_SECRET_KEY; default: a new one, kept by later runs)',
    )
    .option(
      '--from <network>',
      'the network of pods, from which edges reach apps, such as 10.42.0.0/16; repeatable',
      several,
    )
    .option('--registry <place>', 'where images of apps are pushed, such as registry.example.com/apps')
    .option('--base <platform=image>', 'image that code is built on, such as *=debian:12; repeatable', several)
    .option('--domain <name>', 'apps answer at <app>.<domain>', 'localhost')
    .option('--servers <count>', 'how many', '2')
    .option('--namespace <name>', 'where the servers run', 'tancho')
    .option('--apps-namespace <name>', 'where the apps run', 'tancho-apps')
    .option('--pull-secret <name>', 'secret of both namespaces with which nodes pull images')
    .option(
      '--service <type>',
      'how the addresses get out of the cluster: LoadBalancer, NodePort, ClusterIP',
      'LoadBalancer',
    )
    .option('--edges <where>', 'edges of their own: "nodes", for one on each node at its ports 80 and 443, or how many')
    .option('--edge-token <token>', 'of "tancho edge token-create" (better: TANCHO_EDGE_TOKEN)')
    .option('--set <VARIABLE=value>', 'further settings of docs/config.md, by their variables; repeatable', several)
    .option('--builds', 'servers may build code: their pods may make sandboxes (docs/controls.md says what that takes)')
    .option('--show-usage', 'servers may read of nodes what units use')
    .option('--apply', 'apply it, in place of printing it')
    .option('--remove', 'remove the servers; apps and their namespace, and the database, stay')
    .option('--kubeconfig <file>', 'of the cluster (default: $KUBECONFIG, else ~/.kube/config)')
    .option('--context <name>', 'of the kubeconfig (default: its current one)')
    .option('-y, --yes', 'do not ask')
    .action(async (flags: KubernetesFlags) => {
      const { installKubernetes } = await import('./kubernetes.ts');
      await installKubernetes(cli, flags);
    });
  install
    .command('image <name>')
    .description('Put this program on an image with git, and push it: registry.example.com/tancho:1')
    .option(
      '--base <image>',
      'what it is put on: Linux of this kind, with git',
      'docker.io/library/buildpack-deps:bookworm-scm',
    )
    .option('--login <user:password>', 'of the registry (better: TANCHO_REGISTRY_LOGIN)')
    .option('--insecure', 'the registry has no TLS, and is sent the login all the same')
    .action(async (name: string, flags: ImageFlags) => {
      const { installImage } = await import('./image.ts');
      await installImage(cli, name, flags);
    });
}
