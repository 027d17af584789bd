/** Light or dark: as the system says, until the viewer says something else. */
import { computed, signal } from '@preact/signals';

const KEY = 'tancho-theme';
const system = matchMedia('(prefers-color-scheme: dark)');
const systemIsDark = signal(system.matches);
const chosen = signal(localStorage.getItem(KEY) ?? '');

export const isDark = computed(() => (chosen.value === '' ? systemIsDark.value : chosen.value === 'dark'));

export function followSystemTheme(): void {
  system.addEventListener('change', ({ matches }) => (systemIsDark.value = matches));
  show();
}

export function switchTheme(): void {
  const next = isDark.value ? 'light' : 'dark';
  const isAsSystem = (next === 'dark') === systemIsDark.value;
  chosen.value = isAsSystem ? '' : next;
  if (isAsSystem) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, next);
  show();
}

function show(): void {
  if (chosen.value === '') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = chosen.value;
}
