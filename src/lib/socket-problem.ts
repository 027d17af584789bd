import { connect } from 'node:net';

const PATIENCE_MS = 2_000;

/** Null when somebody listens at a unix socket, else the system's reason; ETIMEDOUT for who listens and takes nobody. */
export function socketProblem(path: string): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const settle = (problem: string | null): void => {
      socket.destroy();
      resolve(problem);
    };
    socket.setTimeout(PATIENCE_MS, () => settle('ETIMEDOUT'));
    socket.once('connect', () => settle(null));
    socket.once('error', (error: NodeJS.ErrnoException) => settle(error.code ?? 'unknown'));
  });
}

/** Whether the path belongs to somebody who lives. */
export async function isSocketTaken(path: string): Promise<boolean> {
  const problem = await socketProblem(path);
  return problem === null || problem === 'ETIMEDOUT';
}
