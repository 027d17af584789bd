import { expect, it } from 'vitest';
import { escapingLink } from './links.ts';

const links = (entries: Record<string, string>): Map<string, string> => new Map(Object.entries(entries));

it('finds links that lead out', () => {
  expect(escapingLink(links({ a: '/etc' }))).toBe('a');
  expect(escapingLink(links({ a: '..' }))).toBe('a');
  expect(escapingLink(links({ 'x/a': '../..' }))).toBe('x/a');
  expect(escapingLink(links({ a: 'x/../../y' }))).toBe('a');
});

it('finds links that lead out only through other links', () => {
  expect(escapingLink(links({ 'p/q/s': '../..', e: 'p/q/s/../x' }))).toBe('e');
  expect(escapingLink(links({ d: 'x', e: 'd/../..' }))).toBe('e');
});

it('lets those be that stay inside, point nowhere, or turn in circles', () => {
  expect(escapingLink(links({}))).toBeNull();
  expect(escapingLink(links({ 'x/a': '../y', b: 'missing/file', 'x/y/c': './../../z' }))).toBeNull();
  expect(escapingLink(links({ a: 'b', b: 'a' }))).toBeNull();
  expect(escapingLink(links({ d: 'x/y/z', e: 'd/../..' }))).toBeNull();
});
