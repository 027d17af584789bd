/** Why a message is not taken: `status` for the client, `reason` one sentence without anything internal. */
export class Refusal {
  readonly status: number;
  readonly reason: string;

  constructor(status: number, reason: string) {
    this.status = status;
    this.reason = reason;
  }
}
