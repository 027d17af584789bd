import { describe, expect, it } from 'vitest';
import { parseImageName } from './image-name.ts';

const DIGEST = `sha256:${'ab'.repeat(32)}`;

describe('the name of an image', () => {
  it.each([
    ['registry.example.com/team/app:1', 'registry.example.com', 'team/app', '1'],
    ['localhost/app', 'localhost', 'app', 'latest'],
    ['localhost:5000/a/b/c:v1.2', 'localhost:5000', 'a/b/c', 'v1.2'],
    ['[::1]:5000/app', '[::1]:5000', 'app', 'latest'],
    ['Registry.Example.com/app', 'registry.example.com', 'app', 'latest'],
    ['app', 'docker.io', 'library/app', 'latest'],
    ['team/app:1', 'docker.io', 'team/app', '1'],
    ['registry/app:1', 'docker.io', 'registry/app', '1'],
    [`10.0.0.1/app@${DIGEST}`, '10.0.0.1', 'app', DIGEST],
    [`example.com/app:1@${DIGEST}`, 'example.com', 'app', DIGEST],
  ])('%s', (text, host, repository, reference) => {
    expect(parseImageName(text)).toMatchObject({ host, repository, reference });
  });

  it('is complete without its digest', () => {
    expect(parseImageName(`example.com/app:1@${DIGEST}`).full).toBe('example.com/app:1');
    expect(parseImageName(`example.com/app@${DIGEST}`).full).toBe('example.com/app');
    expect(parseImageName('app').full).toBe('docker.io/library/app:latest');
  });

  it.each([
    '',
    ' ',
    'example.com/',
    'example.com/App',
    'example.com/a//b',
    'example.com/../etc',
    'example.com/a/../b',
    'example.com/app:',
    'example.com/app:a b',
    'example.com/app@sha256:abc',
    'example.com/app@md5:d41d8cd98f00b204e9800998ecf8427e',
    'http://example.com/app',
    'user:pw@example.com/app',
    'example.com/app?x=1',
    'example.com/app#x',
    'exa\nmple.com/app',
    `example.com/${'a'.repeat(500)}`,
  ])('is refused: %j', (text) => {
    expect(() => parseImageName(text)).toThrow(/is not the name of an image/);
  });
});
