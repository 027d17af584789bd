/** Which cluster is spoken with, and as whom. */

export interface Cluster {
  readonly server: URL;
  /** PEM of the authorities that its certificate may be of; null: those of the system. */
  readonly authorities: string | null;
  /** False: its certificate is not looked at. */
  readonly isVerified: boolean;
  /** The name that its certificate is to have; null: the one it is called by. */
  readonly serverName: string | null;
}

export interface ClusterLogin {
  /** Of every request; several values are sent as so many headers of that name. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** PEM; null: none. */
  readonly certificate: { readonly chain: string; readonly key: string } | null;
}

export interface ClusterAccess {
  readonly cluster: Cluster;
  /** Where nothing else is said. */
  readonly namespace: string;
  /** One line for people: `context prod of /root/.kube/config`. */
  readonly description: string;
  /** What is sent from now on: tokens of files and of programs are had anew when they may have changed. Throws AccessProblem. */
  login(): Promise<ClusterLogin>;
  /** The server has refused the last login: it is had anew at the next call. */
  refused(): void;
}

/** What is wrong with a kubeconfig or what it names; `hint` is for the operator. */
export class AccessProblem extends Error {
  override readonly name = 'AccessProblem';
  readonly hint: string;

  constructor(message: string, hint: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.hint = hint;
  }
}
