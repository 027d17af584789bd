/** The frame around every screen: navigation, the screen itself, and what concerns all of them. */
import type { ComponentChildren } from 'preact';
import { useEffect, useErrorBoundary, useRef, useState } from 'preact/hooks';
import { isLost, tryAgain } from './api/connection.ts';
import { viewer } from './api/session.ts';
import { allIsLoaded, loadAgainSoon } from './load-again.ts';
import { NAVIGATION } from './navigation.ts';
import { Empty, Head, Note, Waiting } from './parts/content.tsx';
import { Confirmation } from './parts/dialog.tsx';
import { Keys } from './keys.tsx';
import { isPaletteOpen, listenToKeys, Palette } from './palette.tsx';
import { Icon, Mark } from './parts/icon.tsx';
import { TaskList } from './parts/tasks.tsx';
import { Toasts } from './parts/toasts.tsx';
import { BASE, path } from './routing/location.ts';
import { routeAt, type Screen } from './routing/screens.ts';
import { isDark, switchTheme } from './theme.ts';
import { askSignOut } from './sign-out.tsx';

/** For the module of a screen. */
const LOAD_MS = 30_000;

export function Shell() {
  const [isOpen, setOpen] = useState(false);
  const here = path.value;
  useEffect(() => setOpen(false), [here]);
  useEffect(() => listenToKeys(), []);
  return (
    <>
      <a class="button skip" href="#main">
        Skip to the content
      </a>
      <div class="shell">
        <header class="top">
          <button
            type="button"
            class="button plain"
            aria-label="Menu"
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            <Icon name="menu" />
          </button>
          <Brand />
          <ThemeButton />
        </header>
        {isOpen && <button type="button" class="scrim" aria-label="Close the menu" onClick={() => setOpen(false)} />}
        <Side isOpen={isOpen} />
        <div>
          <Connection />
          <main class="content" id="main" tabIndex={-1}>
            <div class="inner">
              <CurrentScreen />
            </div>
          </main>
        </div>
      </div>
      <Confirmation />
      <Palette />
      <Keys />
      <div class="toasts">
        <TaskList />
        <Toasts />
      </div>
    </>
  );
}

function Brand() {
  return (
    <a class="brand" href={BASE}>
      <Mark /> Tancho
    </a>
  );
}

function Side({ isOpen }: { isOpen: boolean }) {
  const { email, isAdmin } = viewer();
  const section = routeAt(path.value)?.route.section;
  return (
    <nav class={`side ${isOpen ? 'open' : ''}`} aria-label="Main">
      <Brand />
      <button type="button" class="find" onClick={() => (isPaletteOpen.value = true)}>
        <Icon name="search" /> Go to <kbd>Ctrl K</kbd>
      </button>
      <div class="stack">
        {NAVIGATION.map(({ title, items }) => {
          const seen = items.filter(({ forAdmins }) => forAdmins !== true || isAdmin);
          return (
            <div key={title}>
              {title !== '' && <div class="group">{title}</div>}
              <ul>
                {seen.map(({ to, label, icon, section: own }) => (
                  <li key={to}>
                    <a href={BASE + (to === '/' ? '' : to)} {...(own === section && { 'aria-current': 'page' })}>
                      <Icon name={icon} /> {label}
                    </a>
                  </li>
                ))}
              </ul>
            </div>
          );
        })}
      </div>
      <div class="foot">
        <div class="who">{email}</div>
        <div class="row tight">
          <ThemeButton />
          <button type="button" class="button plain little" onClick={() => void askSignOut()}>
            <Icon name="out" /> Sign out
          </button>
        </div>
      </div>
    </nav>
  );
}

function ThemeButton() {
  return (
    <button
      type="button"
      class="button plain little"
      aria-label={isDark.value ? 'Light colours' : 'Dark colours'}
      onClick={switchTheme}
    >
      <Icon name={isDark.value ? 'sun' : 'moon'} />
    </button>
  );
}

function Connection() {
  if (!isLost.value) return null;
  return (
    <div class="banner" role="status">
      <span class="spinner" aria-hidden="true" /> The server does not answer. What you see may be old.
      <button type="button" class="button little" onClick={() => void tryAgain()}>
        Try now
      </button>
    </div>
  );
}

/** The screen of the address; the one before stays until its module is there. */
function CurrentScreen() {
  const found = routeAt(path.value);
  const [shown, setShown] = useState<{ screen: Screen; of: object } | null>(null);
  const [hasFailed, setFailed] = useState(false);
  const isFirst = useRef(true);
  const route = found?.route;
  const title = found === null ? 'Not found' : found.route.title(found.params);
  useEffect(() => {
    document.title = `${title} · Tancho`;
    // Whoever listens to the page hears where they are now.
    if (!isFirst.current) document.getElementById('main')?.focus({ preventScroll: true });
    isFirst.current = false;
  }, [title]);
  useEffect(() => {
    if (route === undefined) return;
    let isCurrent = true;
    setFailed(false);
    // It may still come.
    const late = setTimeout(() => setFailed(true), LOAD_MS);
    route.load().then(
      ({ default: screen }) => {
        if (!isCurrent) return;
        clearTimeout(late);
        allIsLoaded();
        setFailed(false);
        setShown({ screen, of: route });
      },
      () => isCurrent && setFailed(true),
    );
    return () => {
      isCurrent = false;
      clearTimeout(late);
    };
  }, [route]);
  if (found === null) return <NotFound />;
  if (hasFailed) return <Outdated />;
  if (shown === null || shown.of !== route) return <Waiting />;
  const Current = shown.screen;
  return (
    <Guarded key={path.value}>
      <Current params={found.params} />
    </Guarded>
  );
}

/** A screen that cannot be drawn leaves the frame around it as it is. */
function Guarded({ children }: { children: ComponentChildren }) {
  const [thrown] = useErrorBoundary((error: unknown) => reportError(error));
  if (thrown === undefined) return <>{children}</>;
  return (
    <>
      <Head title="This screen cannot be shown" />
      <LoadAgain mood="bad">
        The server said something that this page does not know. It may be of another version than the server.
      </LoadAgain>
    </>
  );
}

function NotFound() {
  return (
    <>
      <Head title="Not found" />
      <Empty title="There is nothing at this address" icon="search">
        <a class="button" href={BASE}>
          To the apps
        </a>
      </Empty>
    </>
  );
}

function Outdated() {
  useEffect(loadAgainSoon, []);
  return (
    <>
      <Head title="This page has to be loaded again" />
      <LoadAgain mood="wait">
        The rest of this page could not be loaded: the server has been upgraded, or was not reached.
      </LoadAgain>
    </>
  );
}

function LoadAgain({ mood, children }: { mood: 'bad' | 'wait'; children: ComponentChildren }) {
  return (
    <Note mood={mood}>
      <span>{children}</span>
      <span>
        <button type="button" class="button" onClick={() => location.reload()}>
          Load again
        </button>
      </span>
    </Note>
  );
}
