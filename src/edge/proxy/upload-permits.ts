import { addressGroup } from '../../lib/trusted-proxies.ts';
import type { Deadlines } from './deadlines.ts';
import type { EdgeProxySettings } from './settings.ts';

/**
 * Who may upload, and how slowly: whoever sends little on many connections must not take all of an app's. Each client has so many
 * uploads to one app under way at most, and each has to bring its bytes in time.
 */
export class UploadPermits {
  readonly #settings: EdgeProxySettings;
  readonly #deadlines: Deadlines;
  readonly #underWay = new Map<string, number>();

  constructor(settings: EdgeProxySettings, deadlines: Deadlines) {
    this.#settings = settings;
    this.#deadlines = deadlines;
  }

  /** For one request with a body; null when the client has as many under way as it may. */
  admit(app: string, client: string): UploadPermit | null {
    const name = `${app} ${addressGroup(client)}`;
    const underWay = this.#underWay.get(name) ?? 0;
    if (underWay >= this.#settings.limits.uploadsPerClient) return null;
    this.#underWay.set(name, underWay + 1);
    return new UploadPermit(this.#settings, this.#deadlines, () => this.#giveBack(name));
  }

  #giveBack(name: string): void {
    const left = (this.#underWay.get(name) ?? 0) - 1;
    if (left > 0) this.#underWay.set(name, left);
    else this.#underWay.delete(name);
  }
}

export class UploadPermit {
  readonly #settings: EdgeProxySettings;
  readonly #deadlines: Deadlines;
  #giveBack: (() => void) | null;
  #until: number;

  constructor(settings: EdgeProxySettings, deadlines: Deadlines, giveBack: () => void) {
    this.#settings = settings;
    this.#deadlines = deadlines;
    this.#giveBack = giveBack;
    this.#until = deadlines.now + settings.timeouts.uploadFreeMs;
  }

  /** Bytes of the body have come. */
  sent(bytes: number): void {
    const { uploadBytesPerSecond } = this.#settings.limits;
    if (uploadBytesPerSecond > 0) this.#until += (bytes / uploadBytesPerSecond) * 1_000;
  }

  /** The client could not send, because the unit did not read. */
  waited(): void {
    this.#until = Math.max(this.#until, this.#deadlines.now + this.#settings.timeouts.uploadFreeMs);
  }

  /** Milliseconds in which more of the body has to come. */
  get patienceMs(): number {
    const { limits, timeouts } = this.#settings;
    if (limits.uploadBytesPerSecond === 0) return timeouts.stallMs;
    return Math.max(0, Math.min(timeouts.stallMs, this.#until - this.#deadlines.now));
  }

  /** The body is whole, or nobody wants the rest. */
  close(): void {
    this.#giveBack?.();
    this.#giveBack = null;
  }
}
