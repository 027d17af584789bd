/** Sockets that systemd has bound and keeps, sd_listen_fds(3): connections wait in them from the end of a program to its next start. */
import { PlatformError } from '../domain/errors.ts';

const FIRST_FD = 3;

/** Their descriptors, in the order of the lines `ListenStream=`; null: there are none. Throws `config.invalid` where they are not as many as are wanted. */
export function handedSockets(env: NodeJS.ProcessEnv, wanted: number): readonly number[] | null {
  const [count, pid] = [env['LISTEN_FDS'], env['LISTEN_PID']];
  // Both are for one process, and not for what it starts.
  if (count === undefined || Number(pid) !== process.pid) return null;
  if (Number(count) !== wanted)
    throw new PlatformError(
      'config.invalid',
      `The service manager has handed over ${count} sockets in place of ${wanted}.`,
      {
        hint: 'The .socket unit has one line ListenStream= for edge.listen, and after it one for edge.tls.listen, where that is on.',
      },
    );
  return Array.from({ length: wanted }, (_, at) => FIRST_FD + at);
}
