import { describe, expect, it } from 'vitest';
import { namedEngines } from './engine-settings.ts';

describe('engines beside this machine', () => {
  it('are none unless they are named', () => {
    expect(namedEngines('').size).toBe(0);
  });

  it('are read with what is not said', () => {
    const text =
      'prod=kubernetes:/etc/my%20config?context=eu&namespace=apps&from=10.0.0.0/8&from=192.168.7.0/24&user=2000&pull-secret=registry, near=kubernetes:in-cluster?installation=other';
    expect(Object.fromEntries(namedEngines(text))).toEqual({
      prod: {
        kubeconfig: '/etc/my config',
        context: 'eu',
        namespace: 'apps',
        installation: 'tancho',
        imagePullSecret: 'registry',
        user: 2000,
        reachedFrom: ['10.0.0.0/8', '192.168.7.0/24'],
      },
      near: {
        kubeconfig: null,
        context: null,
        namespace: null,
        installation: 'other',
        imagePullSecret: null,
        user: 1000,
        reachedFrom: [],
      },
    });
  });

  it.each([
    ['prod', 'name=address'],
    ['prod=docker:/x', 'name=address'],
    ['Prod=kubernetes:/x', 'name=address'],
    ['process=kubernetes:/x', 'a name of its own'],
    ['a=kubernetes:/x, a=kubernetes:/y', 'a name of its own'],
    ['a=kubernetes:config', 'whole path'],
    ['a=kubernetes:/x?colour=red', 'no option colour'],
    ['a=kubernetes:/x?namespace=My_Space', 'wrong namespace'],
    ['a=kubernetes:/x?user=0', 'not of root'],
    ['a=kubernetes:/x?from=here', 'networks of IPv4'],
  ])('are refused as %s', (text, problem) => {
    expect(() => namedEngines(text)).toThrow(problem);
  });
});
