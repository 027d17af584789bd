/** What all screens of one app have in common: its name and state, what can be done with it, the ways to its other screens. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { call, perform } from '../api/call.ts';
import type { App } from '../api/operations.ts';
import { appUrl } from '../data/app-url.ts';
import { OFTEN_MS, type Resource, useResource } from '../data/resource.ts';
import { ActButton } from '../parts/act-button.tsx';
import { Head, Loaded, Note } from '../parts/content.tsx';
import { DropAnywhere } from '../parts/drop-anywhere.tsx';
import { Icon } from '../parts/icon.tsx';
import { Status } from '../parts/status.tsx';
import { at, BASE, path } from '../routing/location.ts';

const TABS: readonly { readonly part: string; readonly label: string }[] = [
  { part: '', label: 'Overview' },
  { part: 'timeline', label: 'Timeline' },
  { part: 'log', label: 'Log' },
  { part: 'deploys', label: 'Deploys' },
  { part: 'releases', label: 'Releases' },
  { part: 'env', label: 'Environment' },
  { part: 'terminal', label: 'Terminal' },
  { part: 'settings', label: 'Settings' },
];

export function useApp(name: string): Resource<App> {
  return useResource(`app ${name}`, (signal) => call('GET /apps/{app}', { params: { app: name }, signal }), OFTEN_MS);
}

interface AppFrameProps {
  readonly app: Resource<App>;
  readonly name: string;
  readonly children: (app: App) => ComponentChildren;
}

export function AppFrame({ app, name, children }: AppFrameProps) {
  const known = app.data.value;
  const tabs = useRef<HTMLElement>(null);
  // Where there is no room for all of them, the one that is open is seen.
  useEffect(() => {
    const open = tabs.current?.querySelector<HTMLElement>('[aria-current]');
    if (open) tabs.current?.scrollTo({ left: open.offsetLeft - (tabs.current.clientWidth - open.offsetWidth) / 2 });
  }, [path.value]);
  return (
    <>
      <Head
        title={name}
        crumbs={<a href={BASE}>Apps</a>}
        beside={known !== undefined && <Status state={known.lock?.Locked === true ? 'removing' : known.State} />}
      >
        {known !== undefined && <Actions app={known} changed={() => void app.refresh()} />}
      </Head>
      <nav class="tabs" ref={tabs} aria-label={`Screens of ${name}`}>
        {TABS.map(({ part, label }) => {
          const to = part === '' ? at('apps', name) : at('apps', name, part);
          const isHere = path.value === to || (part !== '' && path.value.startsWith(`${to}/`));
          return (
            <a key={part} href={BASE + to} {...(isHere && { 'aria-current': 'page' })}>
              {label}
            </a>
          );
        })}
      </nav>
      <Loaded from={app}>
        {(value) => (
          <>
            {(value.problems ?? []).length > 0 && (
              <Note mood="wait">
                {(value.problems ?? []).map((problem) => (
                  <span key={problem}>{problem}</span>
                ))}
              </Note>
            )}
            {children(value)}
            <DropAnywhere app={value.Name} />
          </>
        )}
      </Loaded>
    </>
  );
}

function Actions({ app, changed }: { app: App; changed: () => void }) {
  const params = { app: app.Name };
  const wasDeployed = app.deploys > 0 && app.State !== 'created';
  return (
    <>
      {app.Ip !== '' && wasDeployed && (
        <a class="button" href={appUrl(app)} target="_blank" rel="noreferrer">
          <Icon name="open" /> Open
        </a>
      )}
      {wasDeployed && app.State !== 'stopped' && (
        <>
          <ActButton
            task={`Restart ${app.Name}`}
            work={(said) => perform('POST /apps/{app}/restart', said, { params })}
            look=""
            onDone={changed}
          >
            <Icon name="restart" /> Restart
          </ActButton>
          <ActButton
            task={`Stop ${app.Name}`}
            work={(said) => perform('POST /apps/{app}/stop', said, { params })}
            look=""
            onDone={changed}
          >
            <Icon name="stop" /> Stop
          </ActButton>
        </>
      )}
      {app.State === 'stopped' && (
        <ActButton
          task={`Start ${app.Name}`}
          work={(said) => perform('POST /apps/{app}/start', said, { params })}
          look="main"
          onDone={changed}
        >
          <Icon name="play" /> Start
        </ActButton>
      )}
    </>
  );
}
