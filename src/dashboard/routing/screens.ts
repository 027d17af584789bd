/** Every screen: where it is, what it is called, and the module that is loaded when somebody goes there. */
import type { ComponentType } from 'preact';
import { match } from './match.ts';

export type Params = Readonly<Record<string, string>>;
export type Screen = ComponentType<{ readonly params: Params }>;

interface ScreenRoute {
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

const ROUTES: readonly ScreenRoute[] = [
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
    pattern: '/apps/:app/releases',
    title: ofApp('Releases'),
    section: 'apps',
    load: () => import('../screens/app-releases.tsx'),
  },
  {
    pattern: '/apps/:app/env',
    title: ofApp('Environment'),
    section: 'apps',
    load: () => import('../screens/app-env.tsx'),
  },
  { pattern: '/deploys', title: named('Deploys'), section: 'deploys', load: () => import('../screens/deploys.tsx') },
  {
    pattern: '/apps/:app/timeline',
    title: ofApp('Timeline'),
    section: 'apps',
    load: () => import('../screens/app-timeline.tsx'),
  },
  {
    pattern: '/apps/:app/terminal',
    title: ofApp('Terminal'),
    section: 'apps',
    load: () => import('../screens/app-terminal.tsx'),
  },
  {
    pattern: '/apps/:app/settings',
    title: ofApp('Settings'),
    section: 'apps',
    load: () => import('../screens/app-settings.tsx'),
  },
  {
    pattern: '/services',
    title: named('Services'),
    section: 'services',
    load: () => import('../screens/services.tsx'),
  },
  {
    pattern: '/services/:service',
    title: ({ service = '' }) => service,
    section: 'services',
    load: () => import('../screens/service.tsx'),
  },
  {
    pattern: '/instances/:instance',
    title: ({ instance = '' }) => instance,
    section: 'services',
    load: () => import('../screens/instance.tsx'),
  },
  { pattern: '/teams', title: named('Teams'), section: 'teams', load: () => import('../screens/teams.tsx') },
  { pattern: '/users', title: named('Users'), section: 'users', load: () => import('../screens/users.tsx') },
  {
    pattern: '/account',
    title: named('Your account'),
    section: 'account',
    load: () => import('../screens/account.tsx'),
  },
  {
    pattern: '/certificates',
    title: named('Certificates'),
    section: 'certificates',
    load: () => import('../screens/certificates.tsx'),
  },
  { pattern: '/drains', title: named('Drains'), section: 'drains', load: () => import('../screens/drains.tsx') },
  {
    pattern: '/webhooks',
    title: named('Webhooks'),
    section: 'webhooks',
    load: () => import('../screens/webhooks.tsx'),
  },
  {
    pattern: '/webhooks/:webhook',
    title: named('Webhook'),
    section: 'webhooks',
    load: () => import('../screens/webhook.tsx'),
  },
  {
    pattern: '/registries',
    title: named('Registries'),
    section: 'registries',
    load: () => import('../screens/registries.tsx'),
  },
  { pattern: '/pools', title: named('Pools'), section: 'pools', load: () => import('../screens/pools.tsx') },
  { pattern: '/plans', title: named('Plans'), section: 'plans', load: () => import('../screens/plans.tsx') },
  {
    pattern: '/platforms',
    title: named('Platforms'),
    section: 'platforms',
    load: () => import('../screens/platforms.tsx'),
  },
  { pattern: '/healers', title: named('Healers'), section: 'healers', load: () => import('../screens/healers.tsx') },
  { pattern: '/audit/:event', title: named('Event'), section: 'audit', load: () => import('../screens/event.tsx') },
  { pattern: '/audit', title: named('Audit'), section: 'audit', load: () => import('../screens/audit.tsx') },
  { pattern: '/alerts', title: named('Alerts'), section: 'alerts', load: () => import('../screens/alerts.tsx') },
  { pattern: '/backups', title: named('Backups'), section: 'backups', load: () => import('../screens/backups.tsx') },
  { pattern: '/why', title: named('Why'), section: 'why', load: () => import('../screens/why.tsx') },
  { pattern: '/health', title: named('Health'), section: 'health', load: () => import('../screens/health.tsx') },
];

export function routeAt(path: string): { route: ScreenRoute; params: Params } | null {
  for (const route of ROUTES) {
    const params = match(route.pattern, path);
    if (params !== null) return { route, params };
  }
  return null;
}
