/** Everything by its name: screens, apps, and the screens of apps. Ctrl-K opens it. */
import { signal } from '@preact/signals';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { call } from './api/call.ts';
import { viewer } from './api/session.ts';
import { useResource } from './data/resource.ts';
import { NAVIGATION } from './navigation.ts';
import { Dialog } from './parts/dialog.tsx';
import { at, navigate } from './routing/location.ts';

interface Way {
  readonly label: string;
  readonly to: string;
}

export const isPaletteOpen = signal(false);
const MOST = 12;
/** The types of the library know it with a `list` of the browser only. */
const COMBOBOX: object = { role: 'combobox' };
const APP_SCREENS = ['timeline', 'log', 'deploys', 'releases', 'env', 'terminal', 'settings'];

/** Keys that count everywhere, but where somebody types. */
export function listenToKeys(): () => void {
  const pressed = (event: KeyboardEvent): void => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      isPaletteOpen.value = !isPaletteOpen.value;
      return;
    }
    const isTyping = (event.target as Element).closest?.('input, textarea, select, dialog, .terminal') !== null;
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === '/') {
      const search = document.getElementById('search');
      if (search === null) return;
      event.preventDefault();
      search.focus();
    }
  };
  addEventListener('keydown', pressed);
  return () => removeEventListener('keydown', pressed);
}

export function Palette() {
  return isPaletteOpen.value ? <Open /> : null;
}

function Open() {
  const close = (): void => void (isPaletteOpen.value = false);
  const apps = useResource('palette', (stop) => call('GET /apps', { signal: stop }), 30_000);
  const [wanted, setWanted] = useState('');
  const [chosen, setChosen] = useState(0);
  const list = useId();
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const ways = found(
    wanted,
    (apps.data.value ?? []).map(({ Name }) => Name),
  );
  const current = Math.min(chosen, Math.max(0, ways.length - 1));
  const go = (way: Way | undefined): void => {
    if (way === undefined) return;
    close();
    navigate(way.to);
  };
  const pressed = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setChosen(Math.min(current + 1, ways.length - 1));
    else if (event.key === 'ArrowUp') setChosen(Math.max(current - 1, 0));
    else if (event.key === 'Enter') go(ways[current]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Go to" isWide onClose={close}>
      <input
        ref={input}
        type="search"
        {...COMBOBOX}
        aria-label="Go to"
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={ways.length > 0 ? `${list}-${current}` : undefined}
        placeholder="An app, or a screen"
        value={wanted}
        onKeyDown={pressed}
        onInput={(event) => {
          setWanted(event.currentTarget.value);
          setChosen(0);
        }}
      />
      <div id={list} role="listbox" aria-label="Where to" class="palette">
        {ways.map((way, index) => (
          <div
            key={way.to}
            id={`${list}-${index}`}
            role="option"
            aria-selected={index === current}
            onClick={() => go(way)}
          >
            {way.label}
          </div>
        ))}
        {ways.length === 0 && (
          <div role="option" aria-selected={false} aria-disabled="true">
            Nothing is called like that
          </div>
        )}
      </div>
    </Dialog>
  );
}

/** All words have to be in the label. */
function found(wanted: string, apps: readonly string[]): Way[] {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const { isAdmin } = viewer();
  const screens = NAVIGATION.flatMap(({ items }) => items).filter(({ forAdmins }) => forAdmins !== true || isAdmin);
  const ways = [
    ...apps.map((name) => ({ label: name, to: at('apps', name) })),
    ...screens.map(({ label, to }) => ({ label, to })),
    { label: 'New app', to: '/new' },
    ...(words.length < 1
      ? []
      : apps.flatMap((name) =>
          APP_SCREENS.map((screen) => ({ label: `${name} ${screen}`, to: at('apps', name, screen) })),
        )),
  ];
  return ways.filter(({ label }) => words.every((word) => label.toLowerCase().includes(word))).slice(0, MOST);
}
