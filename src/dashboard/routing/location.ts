/** Where the viewer is. Everything that decides what is shown is in the address, so that it can be shared. */
import { computed, signal } from '@preact/signals';

export const BASE = '/dashboard';

const href = signal(location.pathname + location.search);

/** Below the base; `/` at least, without a slash at the end otherwise. */
export const path = computed(() => {
  const { pathname } = new URL(href.value, location.origin);
  return pathname.slice(BASE.length).replace(/\/+$/, '') || '/';
});
export const query = computed(() => new URL(href.value, location.origin).searchParams);

/** `to` is below the base, and may have a query. */
export function navigate(to: string, { replace = false } = {}): void {
  const next = BASE + (to === '/' ? '' : to);
  if (next === href.value) return;
  history[replace ? 'replaceState' : 'pushState'](null, '', next);
  href.value = next;
  if (!replace) scrollTo(0, 0);
}

/** Changes some of the query, and removes what is ''. */
export function setQuery(changes: Readonly<Record<string, string>>, replace = true): void {
  const next = new URLSearchParams(query.value);
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') next.delete(name);
    else next.set(name, value);
  }
  const text = next.toString();
  navigate(path.value + (text === '' ? '' : `?${text}`), { replace });
}

/** Links stay links: they can be opened in another tab, copied and read out. */
export function followLinks(): void {
  addEventListener('popstate', () => (href.value = location.pathname + location.search));
  document.addEventListener('click', (event) => {
    if (
      event.defaultPrevented ||
      event.button !== 0 ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      event.altKey
    )
      return;
    const link = (event.target as Element | null)?.closest?.('a');
    if (!link || link.target !== '' || link.origin !== location.origin) return;
    if (link.pathname !== BASE && !link.pathname.startsWith(`${BASE}/`)) return;
    if (link.hash !== '') return;
    event.preventDefault();
    navigate(link.pathname.slice(BASE.length) + link.search);
  });
}

/** A file that is dropped beside its place would be opened in place of the page. */
export function keepPage(): void {
  for (const type of ['dragover', 'drop'] as const) {
    addEventListener(type, (event) => {
      if (event.defaultPrevented || event.dataTransfer?.types.includes('Files') !== true) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = 'none';
    });
  }
}

/** Address of a screen: `at('apps', name, 'log')`. */
export function at(...parts: readonly string[]): string {
  return `/${parts.map(encodeURIComponent).join('/')}`;
}
