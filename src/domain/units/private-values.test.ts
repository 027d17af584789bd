import { expect, it } from 'vitest';
import { privateForms } from './private-values.ts';

it('what is looked for in the output of the units of a release is made once for all of them', () => {
  const env = [
    { name: 'TOKEN', value: 'correct-horse', public: false, managedBy: '' },
    { name: 'GREETING', value: 'hello-world', public: true, managedBy: '' },
  ];
  const forms = privateForms(env);
  expect(forms).toContain('correct-horse');
  expect(forms).not.toContain('hello-world');
  expect(privateForms(env)).toBe(forms);
});
