/** Small line drawings; they never say anything that a word beside them does not. */
const PATHS: Readonly<Record<string, string>> = {
  apps: 'M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h6v6h-6z',
  deploys: 'M12 3v12M7 8l5-5 5 5M4 15v4a2 2 0 0 0 2 2h12a2 2 0 0 0 2-2v-4',
  services:
    'M4 6c0-1.7 3.6-3 8-3s8 1.3 8 3-3.6 3-8 3-8-1.3-8-3zM4 6v12c0 1.7 3.6 3 8 3s8-1.3 8-3V6M4 12c0 1.7 3.6 3 8 3s8-1.3 8-3',
  teams: 'M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM2 21c0-4 3-6 7-6s7 2 7 6M16 3.5a4 4 0 0 1 0 7M18 15c2.6.8 4 2.7 4 6',
  users: 'M12 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21c0-4 3.6-6 8-6s8 2 8 6',
  pools: 'M3 5h18v5H3zM3 14h18v5H3zM7 7.5h.01M7 16.5h.01',
  platforms: 'M8 6l-6 6 6 6M16 6l6 6-6 6',
  plans: 'M4 20V10M10 20V4M16 20v-7M22 20H2',
  healers: 'M12 20s-8-4.5-8-11a4.5 4.5 0 0 1 8-2.8A4.5 4.5 0 0 1 20 9c0 6.5-8 11-8 11z',
  audit: 'M8 4h12M8 10h12M8 16h8M3 4h.01M3 10h.01M3 16h.01',
  health: 'M3 12h4l3-8 4 16 3-8h4',
  account: 'M15 7a4 4 0 1 1-3.3 6.2L4 21H2v-3l8.2-7.6A4 4 0 0 1 15 7z',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM21 21l-5-5',
  menu: 'M3 6h18M3 12h18M3 18h18',
  close: 'M5 5l14 14M19 5L5 19',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  open: 'M14 4h6v6M20 4l-9 9M18 14v5a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1V7a1 1 0 0 1 1-1h5',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  done: 'M4 12l5 5L20 6',
  warn: 'M12 3l10 18H2zM12 10v5M12 18h.01',
  info: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 11v5M12 8h.01',
  sun: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.5 1.5M17.5 17.5L19 19M5 19l1.5-1.5M17.5 6.5L19 5',
  moon: 'M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z',
  out: 'M10 4H5a1 1 0 0 0-1 1v14a1 1 0 0 0 1 1h5M15 8l4 4-4 4M19 12H9',
  plus: 'M12 5v14M5 12h14',
  restart: 'M20 11A8 8 0 1 0 18 17M20 5v6h-6',
  play: 'M7 4l13 8-13 8z',
  stop: 'M6 6h12v12H6z',
  pause: 'M8 5v14M16 5v14',
  back: 'M4 9h11a5 5 0 0 1 0 10h-4M8 5L4 9l4 4',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13',
  eye: 'M2 12s4-7 10-7 10 7 10 7-4 7-10 7-10-7-10-7zM12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6z',
  certificates: 'M6 11h12v9H6zM8 11V8a4 4 0 0 1 8 0v3M12 14v3',
  drains: 'M3 7h11M3 12h8M3 17h11M15 12h6M18 9l3 3-3 3',
  webhooks: 'M4 12h9M10 8l4 4-4 4M16 4h4v16h-4',
  registries: 'M12 3l8 4.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9',
  timeline: 'M3 3v18h18M7 15l4-5 3 3 5-7',
  alerts: 'M6 16V11a6 6 0 0 1 12 0v5l2 2H4zM10 21h4',
  backups: 'M4 8V4h16v4M4 8h16v12H4zM12 11v6M9 14l3 3 3-3',
  why: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM9.5 9.5a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.1 1-1.1 1.8M12 17h.01',
  terminal: 'M4 5h16v14H4zM8 9l3 3-3 3M13 15h3',
};

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg
      class="icon"
      viewBox="0 0 24 24"
      aria-hidden="true"
      fill="none"
      stroke="currentColor"
      stroke-width="2"
      stroke-linecap="round"
      stroke-linejoin="round"
    >
      <path d={PATHS[name] ?? ''} />
    </svg>
  );
}

export function Mark() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#15181d" stroke="#3a404b" />
      <path d="M9 24c0-6 3-9 7-9s7 3 7 9" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" />
      <circle cx="16" cy="9.5" r="4" fill="#e0342b" />
    </svg>
  );
}
