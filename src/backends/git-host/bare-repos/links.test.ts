import { expect, it } from 'vitest';
import { escapingLinks } from './links.ts';
import { processorMs } from '../../../../test/support/processor-ms.ts';

const links = (entries: Record<string, string>): Map<string, string> => new Map(Object.entries(entries));

it('finds links that lead out', () => {
  expect(escapingLinks(links({ a: '/etc' }))).toEqual(['a']);
  expect(escapingLinks(links({ a: '..' }))).toEqual(['a']);
  expect(escapingLinks(links({ 'x/a': '../..' }))).toEqual(['x/a']);
  expect(escapingLinks(links({ a: 'x/../../y' }))).toEqual(['a']);
});

it('finds links that lead out only through other links', () => {
  expect(escapingLinks(links({ 'p/q/s': '../..', e: 'p/q/s/../x' }))).toEqual(['e']);
  expect(escapingLinks(links({ d: 'x', e: 'd/../..' }))).toEqual(['e']);
});

it('lets those be that stay inside, point nowhere, or turn in circles', () => {
  expect(escapingLinks(links({}))).toEqual([]);
  expect(escapingLinks(links({ 'x/a': '../y', b: 'missing/file', 'x/y/c': './../../z' }))).toEqual([]);
  expect(escapingLinks(links({ a: 'b', b: 'a' }))).toEqual([]);
  expect(escapingLinks(links({ d: 'x/y/z', e: 'd/../..' }))).toEqual([]);
});

it('gives up on a few links that make more of paths than anybody could follow', () => {
  const through = `${'a/'.repeat(800)}${'../'.repeat(800)}`;
  const chain = Array.from({ length: 40 }, (_, n) => [`l${n}`, `${through}l${n + 1}`] as const);
  const many = Array.from({ length: 1_000 }, (_, n) => [`k${n}`, 'l0'] as const);
  const begun = processorMs();
  expect(escapingLinks(new Map([...chain, ...many]))).toBeNull();
  expect(processorMs() - begun).toBeLessThan(60_000);
});

it('follows as many as a large tree has', () => {
  const many = Array.from({ length: 50_000 }, (_, n) => [`packages/p${n}/node_modules/dep`, '../../p0/lib'] as const);
  expect(escapingLinks(new Map(many))).toEqual([]);
});
