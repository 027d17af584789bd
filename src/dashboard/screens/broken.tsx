import type { Diagnosis } from '../api/operations.ts';
import { Copyable, Note } from '../parts/content.tsx';
import { at, BASE } from '../routing/location.ts';

interface BrokenProps {
  readonly diagnosis: Diagnosis;
  readonly broken: NonNullable<Diagnosis['broken']>;
  /** Of an app, or an address. */
  readonly name: string;
}

/** The first thing that is wrong between a visitor and an app, and what mends it. */
export function Broken({ diagnosis: { answers, app }, broken: { cause, lines, command }, name }: BrokenProps) {
  return (
    <Note mood={answers ? 'wait' : 'bad'}>
      <strong>{answers ? `${name} answers, but something is wrong` : `Why ${name} does not answer`}</strong>
      <span class="break">{cause}</span>
      {lines.length > 0 && (
        <pre class="output" tabIndex={0} aria-label="Its last lines">
          {lines.join('\n')}
        </pre>
      )}
      {command !== '' && (
        <>
          <span>What to do:</span>
          <Copyable text={command} />
        </>
      )}
      {app !== '' && <a href={BASE + at('apps', app, 'log')}>Look at its log</a>}
    </Note>
  );
}
