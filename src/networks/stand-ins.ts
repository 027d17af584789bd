/** Which addresses of a home's range stand for loopback addresses of the machine. */
import { STAND_INS } from './address-plan.ts';
import type { NetworkNotes } from './network-notes.ts';
import { PROTOCOLS } from './rules.ts';
import type { Forward } from './unit-rules.ts';

export class StandIns {
  readonly #notes: NetworkNotes;
  readonly #addressAt: (index: number) => string;
  /** Given by this process, whether noted yet or not. */
  readonly #given = new Map<string, string>();

  constructor(notes: NetworkNotes, addressAt: (index: number) => string) {
    this.#notes = notes;
    this.#addressAt = addressAt;
  }

  /** By TCP and UDP, to loopback addresses. */
  forwards(services: readonly { readonly address: string; readonly port: number }[]): Forward[] {
    return services.flatMap(({ address, port }) => {
      const standIn = this.#of(address);
      return PROTOCOLS.map((protocol) => ({ from: address, standIn, protocol, port }));
    });
  }

  /** The same one as long as any network knows it. */
  #of(loopback: string): string {
    const own = this.#given.get(loopback);
    if (own !== undefined) return own;
    const known = new Map(
      this.#notes.all().flatMap((note) => note.forwards.map(({ from, standIn }) => [from, standIn])),
    );
    const given = known.get(loopback);
    if (given !== undefined) {
      this.#given.set(loopback, given);
      return given;
    }
    const taken = new Set([...known.values(), ...this.#given.values()]);
    for (let index: number = STAND_INS.from; index <= STAND_INS.to; index += 1) {
      const address = this.#addressAt(index);
      if (taken.has(address)) continue;
      this.#given.set(loopback, address);
      return address;
    }
    throw new Error(`Apps reach at most ${STAND_INS.to - STAND_INS.from + 1} loopback addresses of this machine.`);
  }
}
