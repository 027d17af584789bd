/** Which keys do what. */
import { signal } from '@preact/signals';
import { Dialog } from './parts/dialog.tsx';

export const areKeysShown = signal(false);

const KEYS: readonly (readonly [string, string])[] = [
  ['Ctrl K', 'go to an app or a screen, or do something, by its name'],
  ['/', 'to the search of the screen'],
  ['?', 'these keys'],
  ['Esc', 'closes what is in front'],
  ['↑ ↓ Enter', 'in a log: choose a line, and open it'],
  ['F6', 'out of a terminal'],
];

export function Keys() {
  if (!areKeysShown.value) return null;
  const close = (): void => void (areKeysShown.value = false);
  return (
    <Dialog title="Keys" onClose={close}>
      <dl class="facts">
        {KEYS.map(([key, what]) => [
          <dt key={key}>
            <kbd>{key}</kbd>
          </dt>,
          <dd key={what}>{what}</dd>,
        ])}
      </dl>
      <div class="buttons">
        <button type="button" class="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
