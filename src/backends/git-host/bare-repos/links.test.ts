import { expect, it } from 'vitest';
import { escapingLinks } from './links.ts';

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
