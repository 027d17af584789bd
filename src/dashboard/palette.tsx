/** Everything by its name: screens, apps, the screens of apps, and what is done most. Ctrl-K opens it. */
import { signal } from '@preact/signals';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { call, perform } from './api/call.ts';
import type { AppSummary } from './api/operations.ts';
import { viewer } from './api/session.ts';
import { useResource } from './data/resource.ts';
import { NAVIGATION } from './navigation.ts';
import { Dialog } from './parts/dialog.tsx';
import { areKeysShown } from './keys.tsx';
import { runTask } from './parts/tasks.tsx';
import { at, navigate } from './routing/location.ts';
import { askSignOut } from './sign-out.tsx';
import { isDark, switchTheme } from './theme.ts';

interface Way {
  readonly label: string;
  /** Where it leads, or what it does. */
  readonly to: string | (() => unknown);
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
    if (event.key === '?') areKeysShown.value = true;
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
  const known = useResource('palette', readNames, 30_000);
  const [wanted, setWanted] = useState('');
  const [chosen, setChosen] = useState(0);
  const list = useId();
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => input.current?.focus(), []);
  const ways = found(wanted, known.data.value ?? { apps: [], services: [], instances: [] });
  const current = Math.min(chosen, Math.max(0, ways.length - 1));
  const go = (way: Way | undefined): void => {
    if (way === undefined) return;
    close();
    if (typeof way.to === 'string') navigate(way.to);
    else way.to();
  };
  const pressed = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setChosen(Math.min(current + 1, ways.length - 1));
    else if (event.key === 'ArrowUp') setChosen(Math.max(current - 1, 0));
    else if (event.key === 'Enter') go(ways[current]);
    // A field for searches would only be emptied by it.
    else if (event.key === 'Escape') close();
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
        placeholder="An app, a screen, or what to do"
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
            key={way.label}
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

interface Names {
  readonly apps: readonly AppSummary[];
  readonly services: readonly string[];
  readonly instances: readonly string[];
}

async function readNames(signal: AbortSignal): Promise<Names> {
  const [apps, services] = await Promise.all([
    call('GET /apps', { signal }),
    call('GET /services/instances', { signal }),
  ]);
  return {
    apps,
    services: services.map(({ service }) => service),
    instances: services.flatMap(({ instances }) => instances),
  };
}

const DEEDS = {
  Restart: 'POST /apps/{app}/restart',
  Stop: 'POST /apps/{app}/stop',
  Start: 'POST /apps/{app}/start',
} as const;

/** What is done to an app, where the words name it: "stop" and Enter stop nothing. */
function deedsOf({ Name: app, State }: AppSummary, words: readonly string[]): Way[] {
  const deeds = State === 'stopped' ? (['Start'] as const) : (['Restart', 'Stop'] as const);
  const names = (deed: string) => (word: string) => !deed.toLowerCase().includes(word) && app.includes(word);
  return deeds
    .filter((deed) => words.some(names(deed)))
    .map((deed) => ({
      label: `${deed} ${app}`,
      to: () => runTask(`${deed} ${app}`, (said) => perform(DEEDS[deed], said, { params: { app } })),
    }));
}

/** All words have to be in the label. */
function found(wanted: string, { apps, services, instances }: Names): Way[] {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const { isAdmin } = viewer();
  const screens = NAVIGATION.flatMap(({ items }) => items).filter(({ forAdmins }) => forAdmins !== true || isAdmin);
  const ways = [
    ...apps.map(({ Name }) => ({ label: Name, to: at('apps', Name) })),
    ...screens.map(({ label, to }) => ({ label, to })),
    { label: 'New app', to: '/new' },
    ...(words.length < 1
      ? []
      : [
          ...apps.flatMap(({ Name: name }) =>
            APP_SCREENS.map((screen) => ({ label: `${name} ${screen}`, to: at('apps', name, screen) })),
          ),
          ...services.map((name) => ({ label: `Service ${name}`, to: at('services', name) })),
          ...instances.map((name) => ({ label: `Instance ${name}`, to: at('instances', name) })),
          ...apps.filter(({ State }) => State !== 'created').flatMap((app) => deedsOf(app, words)),
        ]),
    { label: isDark.value ? 'Light colours' : 'Dark colours', to: switchTheme },
    { label: 'Keys', to: () => (areKeysShown.value = true) },
    { label: 'Sign out', to: () => askSignOut() },
  ];
  return ways.filter(({ label }) => words.every((word) => label.toLowerCase().includes(word))).slice(0, MOST);
}
