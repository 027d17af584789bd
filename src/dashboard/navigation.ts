/** What the navigation and the command palette lead to. */
import type { IconName } from './parts/icon.tsx';

export interface Destination {
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
    ],
  },
];
