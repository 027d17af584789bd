/** Every screen: where it is, what it is called, and the module that is loaded when somebody goes there. */
import type { ComponentType } from 'preact';
import { match } from './match.ts';

export type Params = Readonly<Record<string, string>>;
export type Screen = ComponentType<{ readonly params: Params }>;

export interface Place {
  readonly pattern: string;
  readonly title: (params: Params) => string;
  /** Key of the part of the navigation it belongs to. */
  readonly section: string;
  readonly load: () => Promise<{ readonly default: Screen }>;
}

const named = (title: string) => (): string => title;
const ofApp =
  (title: string) =>
  ({ app = '' }: Params): string =>
    title === '' ? app : `${title} · ${app}`;

export const PLACES: readonly Place[] = [
  { pattern: '/', title: named('Apps'), section: 'apps', load: () => import('../screens/apps.tsx') },
  { pattern: '/new', title: named('New app'), section: 'apps', load: () => import('../screens/new-app.tsx') },
  { pattern: '/apps/:app', title: ofApp(''), section: 'apps', load: () => import('../screens/app-overview.tsx') },
  { pattern: '/apps/:app/log', title: ofApp('Log'), section: 'apps', load: () => import('../screens/app-log.tsx') },
  {
    pattern: '/apps/:app/deploys',
    title: ofApp('Deploys'),
    section: 'apps',
    load: () => import('../screens/app-deploys.tsx'),
  },
  {
    pattern: '/apps/:app/deploys/:deploy',
    title: ofApp('Deploy'),
    section: 'apps',
    load: () => import('../screens/app-deploy.tsx'),
  },
  {
    pattern: '/apps/:app/env',
    title: ofApp('Environment'),
    section: 'apps',
    load: () => import('../screens/app-env.tsx'),
  },
  { pattern: '/deploys', title: named('Deploys'), section: 'deploys', load: () => import('../screens/deploys.tsx') },
];

export function placeAt(path: string): { place: Place; params: Params } | null {
  for (const place of PLACES) {
    const params = match(place.pattern, path);
    if (params !== null) return { place, params };
  }
  return null;
}
