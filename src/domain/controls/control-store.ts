/** What one control has begun, or looks after. */
export interface Work {
  /** Unfinished rollouts, and those whose units there are. */
  readonly rollouts: ReadonlySet<string>;
  /** Unfinished deploys. */
  readonly deploys: ReadonlySet<string>;
}

/** Which control does what, where several share a store. Readers answer null for what is missing. */
export interface ControlReader {
  /** Of '': what nobody has claimed. */
  workOf(control: string): Promise<Work>;
  /** '': nobody has claimed it. */
  controlOfRollout(id: string): Promise<string | null>;
  controlOfDeploy(id: string): Promise<string | null>;
}

export interface ControlWriter {
  claimRollout(id: string, control: string): Promise<void>;
  claimDeploy(id: string, control: string): Promise<void>;
  /** All that one control had is the other one's from now on; what that was. */
  handOver(from: string, to: string): Promise<Work>;
}
