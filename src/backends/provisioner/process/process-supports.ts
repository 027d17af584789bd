/** What processes can do on this machine. */
import type { Supports } from '../../../domain/units/provisioner.ts';
import type { ProcessProvisionerOptions } from './provisioner-options.ts';

export function processSupports({ sandbox, volumes }: ProcessProvisionerOptions): Supports {
  const { roots: images, limits, links, level } = sandbox;
  const places = level === 'bubblewrap' ? 'anywhere' : 'below the code';
  const machine = {
    images,
    artifacts: 'directories',
    links,
    cpuLimit: limits.cpu,
    volumes: volumes === undefined ? 'none' : places,
  } as const;
  const supports: Supports = { ...machine, shell: true, restarts: 'platform', controls: 'one', memoryLimit: true };
  return supports;
}
