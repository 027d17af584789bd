/** A shell beside the units of an app, over a websocket. */
import type { Problem } from './problem.ts';
import { call, socketUrl } from './call.ts';
import { problemOf } from './problem.ts';

interface ShellInput {
  readonly app: string;
  /** Name of a unit; '' for none in particular. */
  readonly unit: string;
  readonly columns: number;
  readonly rows: number;
  /** `taken` is called when it was shown. */
  readonly output: (bytes: Uint8Array, taken: () => void) => void;
}

export type ShellEnd =
  { readonly kind: 'exit'; readonly code: number } | { readonly kind: 'cut'; readonly problem: Problem | null };

interface RemoteShell {
  /** Resolves when it has begun; never, when it does not. */
  readonly begun: Promise<void>;
  readonly ended: Promise<ShellEnd>;
  write(typed: string | Uint8Array<ArrayBuffer>): void;
  resize(columns: number, rows: number): void;
  /** Leaves it, which ends it. */
  close(): void;
}

const PROTOCOL = 'tancho.shell.1';
/** Output that is not shown yet, at which the shell is asked to wait, and below which to go on. */
const MOST_UNSHOWN = 512 * 1024;
const FEW_UNSHOWN = 64 * 1024;
const NORMAL = 1000;

export function openShell({ app, unit, columns, rows, output }: ShellInput): RemoteShell {
  const query = { ...(unit !== '' && { unit }), width: String(columns), height: String(rows), term: 'xterm-256color' };
  const socket = new WebSocket(socketUrl(`/apps/${encodeURIComponent(app)}/shell`, query), PROTOCOL);
  socket.binaryType = 'arraybuffer';
  let unshown = 0;
  let isHeld = false;
  const say = (asked: object): void => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(asked));
  };
  const hold = (wanted: boolean): void => {
    if (wanted === isHeld) return;
    isHeld = wanted;
    say({ hold: wanted });
  };
  socket.addEventListener('message', ({ data }: MessageEvent<ArrayBuffer>) => {
    const bytes = new Uint8Array(data);
    unshown += bytes.length;
    if (unshown > MOST_UNSHOWN) hold(true);
    output(bytes, () => {
      unshown -= bytes.length;
      if (unshown < FEW_UNSHOWN) hold(false);
    });
  });
  let isOpen = false;
  const begun = new Promise<void>((resolve) =>
    socket.addEventListener('open', () => {
      isOpen = true;
      resolve();
    }),
  );
  const ended = new Promise<CloseEvent>((resolve) => socket.addEventListener('close', resolve)).then(
    (event): ShellEnd | Promise<ShellEnd> => {
      const [, code] = /^exit (\d+)$/.exec(event.reason) ?? [];
      if (event.code === NORMAL && code !== undefined) return { kind: 'exit', code: Number(code) };
      return whyCut(app, isOpen);
    },
  );
  return {
    begun,
    ended,
    write(typed) {
      if (socket.readyState !== WebSocket.OPEN) return;
      socket.send(typeof typed === 'string' ? new TextEncoder().encode(typed) : typed);
    },
    resize: (width, height) => say({ width, height }),
    close: () => socket.close(NORMAL),
  };
}

/** Browsers do not say with which status a websocket was refused; any request shows whether the session has ended or the server is away. */
async function whyCut(app: string, wasOpen: boolean): Promise<ShellEnd> {
  try {
    await call('GET /apps/{app}', { params: { app } });
  } catch (thrown) {
    return { kind: 'cut', problem: problemOf(thrown) };
  }
  return { kind: 'cut', problem: wasOpen ? null : problemOf(new Error(`You may not open a shell in ${app}.`)) };
}
