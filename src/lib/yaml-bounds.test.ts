import { expect, it } from 'vitest';
import { beyondYamlBounds, MAX_YAML_BYTES } from './yaml-bounds.ts';

it.each([
  ['', 'nothing'],
  ['id: db\nendpoint:\n  production: http://a\n', 'a manifest'],
  ['hooks:\n  build:\n    - echo "[[ -f a ]] && { b; }"\n', 'a command'],
  [`# ${'-'.repeat(500)}\na: 1\n`, 'a comment'],
  [`a: ${'[]'.repeat(500)}\n`, 'brackets side by side'],
  ['x'.repeat(MAX_YAML_BYTES), 'as much as may be'],
])('lets pass %j: %s', (text) => {
  expect(beyondYamlBounds(text)).toBeNull();
});

it.each([
  ['x'.repeat(MAX_YAML_BYTES + 1), 'longer'],
  ['ü'.repeat(MAX_YAML_BYTES / 2 + 1), 'longer'],
  ['['.repeat(5_000), 'deeply'],
  ['{a: '.repeat(5_000), 'deeply'],
  ['a: [\n'.repeat(200), 'deeply'],
  ['- '.repeat(5_000), 'deeply'],
  ['? '.repeat(5_000), 'deeply'],
  ['-\t'.repeat(5_000), 'deeply'],
  [Array.from({ length: 250 }, (_, level) => `${' '.repeat(level)}a:`).join('\n'), 'deeply'],
  [Array.from({ length: 250 }, (_, level) => `${' '.repeat(level)}?`).join('\r'), 'deeply'],
])('stops %j', (text, why) => {
  expect(beyondYamlBounds(text)).toContain(why);
});
