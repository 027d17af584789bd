import { expect, it } from 'vitest';
import { uploaded } from './deploy-state.ts';

it('finds what an upload has become among the deploys of others', () => {
  const deploy = (ID: string, Origin: string, User: string) => ({ ID, Origin, User });
  const before = deploy('1', 'drag-and-drop', 'ann@example.com');
  const others = [deploy('3', 'git', 'ann@example.com'), deploy('2', 'drag-and-drop', 'bea@example.com')];
  const found = (...more: (typeof before)[]) =>
    uploaded([...more, ...others, before], new Set(['1']), 'ann@example.com');
  expect(found()).toBeUndefined();
  expect(found(deploy('4', 'drag-and-drop', 'ann@example.com'))?.ID).toBe('4');
});
