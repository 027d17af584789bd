import { expect, it } from 'vitest';
import { imageBases, imagePlaceOrNone } from './image-parsers.ts';

it('a place of images is a host with a path', () => {
  expect(imagePlaceOrNone('')).toBeNull();
  expect(imagePlaceOrNone('registry.example.com/apps')).toBe('registry.example.com/apps');
  expect(imagePlaceOrNone(' localhost:5000/team/apps/ ')).toBe('localhost:5000/team/apps');
  for (const bad of ['registry.example.com', 'https://registry.example.com/apps', 'a/B', 'a/b:1', 'a//b', 'a b/c']) {
    expect(() => imagePlaceOrNone(bad), bad).toThrow('must be the host of a registry and a path');
  }
});

it('bases are named once per platform', () => {
  const bases = imageBases('nodejs=docker.io/library/node:24, *=localhost:5000/debian@sha256:' + '5'.repeat(64));
  expect([...bases]).toEqual([
    ['nodejs', 'docker.io/library/node:24'],
    ['*', `localhost:5000/debian@sha256:${'5'.repeat(64)}`],
  ]);
  expect(imageBases('').size).toBe(0);
  for (const bad of ['nodejs', 'nodejs=', 'A=b', 'a=B:c:d', 'a=b,a=c']) {
    expect(() => imageBases(bad), bad).toThrow('must be platform=image');
  }
});
