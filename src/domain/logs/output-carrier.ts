/**
 * Contract: carries what a unit prints into the log beside the event loop of control, from the file that its engine writes it to. Whoever
 * prints much goes there, so that nobody who asks the API waits for it.
 */
import type { OutputFile } from '../units/provisioner.ts';
import type { Unit } from '../units/unit.ts';

/** Of a unit, what its entries say. */
export type PrintingUnit = Pick<Unit, 'id' | 'app' | 'index' | 'process' | 'release'>;

export interface CarryRequest {
  readonly unit: PrintingUnit;
  /** What is replaced, see secretForms(). */
  readonly forms: readonly string[];
  /** The end of the line of which a part is stored, see PartRedactor. */
  readonly before: string;
  readonly file: OutputFile;
  /** So many entries more are stored, and the output up to the cursor; what it answers is waited for before it is called again. */
  readonly onStored: (entries: number, cursor: string) => Promise<void>;
  readonly signal: AbortSignal;
}

export interface Carried {
  /** The next one. */
  readonly before: string;
  /** Something could not be stored; what is, says the log store. */
  readonly failure: Error | null;
}

export interface OutputCarrier {
  /**
   * Resolves when the unit is gone and all it has printed is stored, when it has printed nothing for a while, when the signal has fired, and on a
   * failure. Rejects when whoever carries is lost.
   */
  carry(request: CarryRequest): Promise<Carried>;
}
