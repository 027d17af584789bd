/** Removes one thing, after a question. */
import { ActButton } from './act-button.tsx';

interface RemoveButtonProps {
  /** As in a sentence: `the pool fast`. */
  readonly what: string;
  /** What that means for others. */
  readonly text: string;
  readonly work: () => Promise<unknown>;
  readonly onDone: () => unknown;
  /** Has to be typed first. */
  readonly typed?: string;
}

export function RemoveButton({ what, text, work, onDone, typed }: RemoveButtonProps) {
  return (
    <ActButton
      work={work}
      done={`${what.charAt(0).toUpperCase()}${what.slice(1)} is removed.`}
      label={`Remove ${what}`}
      question={{
        title: `Remove ${what}?`,
        text,
        action: 'Remove',
        isDangerous: true,
        ...(typed !== undefined && { typed }),
      }}
      onDone={onDone}
    >
      Remove
    </ActButton>
  );
}
