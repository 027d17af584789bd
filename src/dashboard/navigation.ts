/** What the navigation and the command palette lead to. */
import type { IconName } from './parts/icon.tsx';

interface Destination {
  readonly to: string;
  /** See Place.section. */
  readonly section: string;
  readonly label: string;
  readonly icon: IconName;
  readonly forAdmins?: true;
}

export const NAVIGATION: readonly { readonly title: string; readonly items: readonly Destination[] }[] = [
  {
    title: '',
    items: [
      { to: '/', section: 'apps', label: 'Apps', icon: 'apps' },
      { to: '/deploys', section: 'deploys', label: 'Deploys', icon: 'deploys' },
      { to: '/services', section: 'services', label: 'Services', icon: 'services' },
    ],
  },
  {
    title: 'People',
    items: [
      { to: '/teams', section: 'teams', label: 'Teams', icon: 'teams' },
      { to: '/users', section: 'users', label: 'Users', icon: 'users', forAdmins: true },
      { to: '/account', section: 'account', label: 'Your account', icon: 'account' },
    ],
  },
  {
    title: 'Platform',
    items: [
      { to: '/health', section: 'health', label: 'Health', icon: 'health' },
      { to: '/alerts', section: 'alerts', label: 'Alerts', icon: 'alerts', forAdmins: true },
      { to: '/backups', section: 'backups', label: 'Backups', icon: 'backups', forAdmins: true },
      { to: '/why', section: 'why', label: 'Why', icon: 'why' },
      { to: '/audit', section: 'audit', label: 'Audit', icon: 'audit' },
      { to: '/healers', section: 'healers', label: 'Healers', icon: 'healers' },
      { to: '/certificates', section: 'certificates', label: 'Certificates', icon: 'certificates' },
      { to: '/drains', section: 'drains', label: 'Drains', icon: 'drains' },
      { to: '/webhooks', section: 'webhooks', label: 'Webhooks', icon: 'webhooks' },
      { to: '/registries', section: 'registries', label: 'Registries', icon: 'registries' },
      { to: '/pools', section: 'pools', label: 'Pools', icon: 'pools' },
      { to: '/plans', section: 'plans', label: 'Plans', icon: 'plans' },
      { to: '/platforms', section: 'platforms', label: 'Platforms', icon: 'platforms' },
    ],
  },
];
