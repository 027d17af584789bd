import type { DeployState } from '../deploys/deploy.ts';

/** What one control has begun, or looks after. */
export interface Work {
  /** Unfinished rollouts, and those whose units there are. */
  readonly rollouts: ReadonlySet<string>;
  /** Unfinished deploys. */
  readonly deploys: ReadonlySet<string>;
}

/** A deploy that has a turn among those of its app, on whichever control, and does not serve yet. */
export interface DeployTurn {
  readonly id: string;
  readonly control: string;
  readonly state: DeployState;
  readonly by: string;
  /** What its code was pushed to; '': no later one takes its place. */
  readonly ref: string;
  /** Who has pushed what takes its place; '': nobody. */
  readonly replacedBy: string;
}

/** Which control does what, where several share a store. Readers answer null for what is missing. */
export interface ControlReader {
  /** Of '': what nobody has claimed. */
  workOf(control: string): Promise<Work>;
  /** '': nobody has claimed it. */
  controlOfRollout(id: string): Promise<string | null>;
  controlOfDeploy(id: string): Promise<string | null>;
  /** In their order. */
  deployTurns(app: string): Promise<DeployTurn[]>;
}

export interface ControlWriter {
  claimRollout(id: string, control: string): Promise<void>;
  claimDeploy(id: string, control: string): Promise<void>;
  /** Gives it a turn, after all of its app that have one. */
  queueDeploy(id: string, ref: string): Promise<void>;
  replaceDeploy(id: string, by: string): Promise<void>;
  /** All that one control had is the other one's from now on; what that was. */
  handOver(from: string, to: string): Promise<Work>;
}
