/** What docs/compatibility.md says at its top is what its table says. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const text = readFileSync(new URL('../docs/compatibility.md', import.meta.url), 'utf8');
const KINDS = ['serves', 'fails', 'network', 'asks', 'nowhere'];

it('counts its rows, each of which names a repository, a commit and one kind', () => {
  const rows = text.split('\n').filter((line) => line.startsWith('| `'));
  const cells = rows.map((row) => row.split('|').map((cell) => cell.trim()));
  for (const [, repository, commit, what, outcome, kind] of cells) {
    expect(repository).toMatch(/^`[\w.-]+\/[\w.-]+`(?:, `[\w./-]+`)?$/);
    expect(commit).toMatch(/^`[0-9a-f]{12}`$/);
    expect([what, outcome].every((each) => each !== '')).toBe(true);
    expect(KINDS).toContain(kind);
    if (kind === 'serves') expect(outcome).toMatch(/^serves/);
  }
  expect(new Set(cells.map(([, repository]) => repository)).size).toBe(rows.length);
  const count = (kind: string): number => cells.filter((row) => row[5] === kind).length;
  const tried = count('serves') + count('fails');
  expect(tried).toBeGreaterThanOrEqual(40);
  expect(count('serves') / tried).toBeGreaterThanOrEqual(0.89);
  const said = text.replace(/\s+/g, ' ');
  expect(said).toContain(`What became of ${rows.length} apps from public repositories`);
  const percent = Math.floor((count('serves') * 100) / tried);
  expect(said).toContain(`Of the ${tried} that run unchanged on Heroku, Render or Railway`);
  expect(said).toContain(`${count('serves')} serve on the first push (${percent} %)`);
  expect(said).toContain(`${count('network')} that fetch from hosts`);
  expect(said).toContain(`${count('asks')} that need something of their owner first`);
  expect(said).toContain(`and ${count('nowhere')} that today's tools build nowhere`);
  expect(said).toContain(`the ${count('fails')} others (\`fails\`)`);
});
