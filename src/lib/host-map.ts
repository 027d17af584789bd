/** Values by host name, where a name may be `*.` and the rest, for any one label in place of the `*`. */
export class HostMap<T> {
  readonly #exact = new Map<string, T>();
  /** Keyed by what follows the `*`, dot included. */
  readonly #wildcard = new Map<string, T>();

  /** `name`: lower case, no port, no trailing dot. Of two values for one name the first stays. */
  add(name: string, value: T): void {
    const [map, key] = name.startsWith('*.') ? [this.#wildcard, name.slice(1)] : [this.#exact, name];
    if (!map.has(key)) map.set(key, value);
  }

  /** Exact names win over wildcards. */
  get(host: string): T | null {
    const exact = this.#exact.get(host);
    if (exact !== undefined) return exact;
    if (this.#wildcard.size === 0) return null;
    const dot = host.indexOf('.');
    return dot <= 0 ? null : (this.#wildcard.get(host.slice(dot)) ?? null);
  }
}
