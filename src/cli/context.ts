/** Everything the command line touches of the world around it; tests give their own. */
import type { Readable, Writable } from 'node:stream';
import type { ServerDoor } from './server/door.ts';

export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };
export type InputStream = Readable & { readonly isTTY?: boolean; setRawMode?(isRaw: boolean): unknown };

export interface CliContext {
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: InputStream;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly cwd: string;
  /** TANCHO_HOME, absolute. */
  readonly home: string;
  readonly version: string;
  /** Where this program is installed: the folder with package.json, platforms/ and examples/. */
  readonly packageRoot: string;
  /** Fires when the command is to end early. */
  readonly signal: AbortSignal;
  readonly server: ServerDoor;
}
