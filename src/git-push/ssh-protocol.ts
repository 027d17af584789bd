/** What is said over an SSH connection: who is there, by a key, and which git command is wanted. */
import ssh2, { type AuthContext, type Connection, type ServerChannel, type Session } from 'ssh2';
import type { RefusalLog } from '../domain/audit/audit.ts';
import type { CallerPlaces } from '../domain/at-once.ts';
import type { UserCaller } from '../domain/caller.ts';
import { isPlatformError, PlatformError } from '../domain/errors.ts';
import { STARTING } from '../domain/starting.ts';
import type { Users } from '../domain/users/users.ts';
import { inTime } from '../lib/deadline.ts';
import { keyFingerprint } from '../lib/key-fingerprint.ts';
import type { Logger } from '../lib/logger.ts';
import { packetLine } from './packet-line.ts';
import { appOfPath, NO_LFS, refusalText } from './refusal.ts';
import type { GitSessions } from './sessions.ts';
import { isLfsCommand, parseSshCommand } from './ssh-command.ts';
import { keyOwner, type KeyOwner } from './ssh-keys.ts';

export interface SshProtocolOptions {
  readonly hostKey: string;
  readonly users: Pick<Users, 'bySshKey'>;
  readonly audit: RefusalLog;
  readonly sessions: GitSessions;
  /** Of connections. */
  readonly places: CallerPlaces;
  readonly logger: Logger;
  /** Commands wait until it resolves, as long as `startPatienceMs`, 10 s when absent. */
  readonly opened: Promise<void>;
  readonly startPatienceMs?: number;
  /** Between signs of life. */
  readonly keepaliveMs: number;
  /** Called when the client at this end of a connection has shown a known key, and has a place. */
  loggedIn(address: string, port: number): void;
  /** Given each command under way. */
  track(work: Promise<void>): void;
}

/** A usual start takes a second or two, and git does not try again. */
const START_PATIENCE_MS = 10_000;
const IDLE_TIMEOUT_MS = 600_000;
const MAX_SESSIONS_PER_CONNECTION = 8;
/** Agents hold many keys, and each is one attempt. */
const MAX_ATTEMPTS = 20;

/** Measured with OpenSSH's client: GCM runs in OpenSSL here, while ssh2's portable ChaCha20 does not. */
const ALGORITHMS: ssh2.Algorithms = {
  cipher: ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'aes256-ctr', 'aes128-ctr'],
  hmac: ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com', 'hmac-sha2-256', 'hmac-sha2-512'],
  compress: ['none'],
};

/** Serves the connections that are injected; listens nowhere. */
export function createSshProtocol(options: SshProtocolOptions): ssh2.Server {
  const settings = {
    hostKeys: [options.hostKey],
    ident: 'tancho',
    algorithms: ALGORITHMS,
    keepaliveInterval: options.keepaliveMs,
    keepaliveCountMax: 3,
  };
  const protocol = new ssh2.Server(settings, (connection, info) => {
    // Undefined at run time when the client is gone already.
    const address = String(info.ip).replace(/^::ffff:/, '');
    const loggedIn = (): void => options.loggedIn(String(info.ip), info.port);
    new Visit(connection, address, { ...options, loggedIn });
  });
  protocol.on('error', (error: Error) => options.logger.warn({ err: error }, 'ssh door'));
  return protocol;
}

const KEYS_UNAVAILABLE = 'The platform cannot look up your key at the moment. Try again soon.';

type VisitOptions = Omit<SshProtocolOptions, 'loggedIn'> & { readonly loggedIn: () => void };

/** One connection. */
class Visit {
  readonly #connection: Connection;
  readonly #address: string;
  readonly #options: VisitOptions;
  /** Null: such a visitor gets no further than to read `#refusal`, and has to do it soon. */
  #owner: KeyOwner | null = null;
  #refusal = KEYS_UNAVAILABLE;
  #attempts = 0;
  /** What was shown last that nobody is known by. */
  #refused: string | null = null;
  #sessions = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(connection: Connection, address: string, options: VisitOptions) {
    this.#connection = connection;
    this.#address = address;
    this.#options = options;
    connection.once('ready', () => {
      // Agents offer one key after the other: those before the right one are no attempts of somebody else.
      this.#refused = null;
      this.#takePlace();
      this.#endWhenIdle();
    });
    connection.once('close', () => {
      clearTimeout(this.#idle);
      if (this.#refused !== null) this.#noteRefusal(this.#refused, notKnown('Nothing that was shown is known here.'));
    });
    connection.on('error', (error: Error) => options.logger.debug({ err: error, address }, 'ssh connection'));
    connection.on('authentication', (context) => {
      void this.#authenticate(context);
    });
    connection.on('session', (accept, reject) => {
      if (this.#sessions >= MAX_SESSIONS_PER_CONNECTION) reject();
      else this.#openSession(accept());
    });
  }

  async #authenticate(context: AuthContext): Promise<void> {
    const { users, logger } = this.#options;
    this.#attempts += 1;
    if (this.#attempts > MAX_ATTEMPTS) {
      this.#connection.end();
      return;
    }
    try {
      const owner = await keyOwner(context, { users, logger, address: this.#address });
      if (owner === null) {
        // Every client begins with `none`, to hear what there is.
        if (context.method !== 'none') this.#refused = shownBy(context);
        context.reject(['publickey']);
        return;
      }
      this.#owner = context.method === 'publickey' && context.signature !== undefined ? owner : null;
      context.accept();
    } catch (error) {
      logger.error({ err: error }, 'ssh authentication');
      // A refusal would say to the owner of a good key that it is not known.
      if (isPlatformError(error, 'unavailable')) context.accept();
      else context.reject(['publickey']);
    }
  }

  #takePlace(): void {
    if (this.#owner === null) return;
    const { places, loggedIn, logger } = this.#options;
    try {
      this.#connection.once('close', places.take(this.#owner.caller));
      loggedIn();
    } catch (error) {
      this.#owner = null;
      this.#refusal = refusalText(error, logger);
    }
  }

  #openSession(session: Session): void {
    this.#sessions += 1;
    clearTimeout(this.#idle);
    session.once('close', () => {
      this.#sessions -= 1;
      if (this.#sessions === 0) this.#endWhenIdle();
    });
    let protocol = '';
    session.on('env', (accept, reject, { key, val }) => {
      if (key !== 'GIT_PROTOCOL') {
        reject?.();
        return;
      }
      protocol = val;
      accept?.();
    });
    session.on('pty', (accept) => accept?.());
    session.on('shell', (accept) => {
      this.#greet(accept());
    });
    // Accepted before anything is awaited: a client that ends its input at once would find the session closed otherwise.
    session.on('exec', (accept, _reject, { command }) => {
      const failed = (error: unknown): void => this.#options.logger.error({ err: error }, 'git over ssh');
      this.#options.track(this.#run(accept(), command, protocol).catch(failed));
    });
  }

  /** A shared connection may wait for its next command, but not for ever. */
  #endWhenIdle(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#connection.end(), IDLE_TIMEOUT_MS);
    this.#idle.unref();
  }

  #greet(channel: ServerChannel, command = ''): void {
    channel.on('error', () => {});
    if (this.#owner === null) {
      channel.stderr.write(`${this.#refusal}\r\n`);
      leave(channel, 1);
      return;
    }
    const hello = `Hi ${this.#owner.caller.email}! You are known here; this server only speaks git.`;
    channel.stderr.write(`${isLfsCommand(command) ? NO_LFS : hello}\r\n`);
    leave(channel, 1);
  }

  async #demandOpen(): Promise<void> {
    const { opened, startPatienceMs = START_PATIENCE_MS } = this.#options;
    // Why a start fails is reported by whoever starts the server.
    const over = opened.catch(() => Promise.reject(STARTING));
    await inTime(startPatienceMs, over, () => STARTING);
  }

  /** A connection may live long: since it was made, the key or the user may have gone, or teams may have changed. */
  async #callerNow({ fingerprint }: KeyOwner): Promise<UserCaller> {
    const caller = await this.#options.users.bySshKey(fingerprint, this.#address);
    if (caller !== null) return caller;
    const gone = notKnown('Your key is no longer known here.');
    this.#noteRefusal(`the key ${fingerprint}`, gone);
    throw gone;
  }

  /** Of somebody who gets no further: nobody else sees this connection. */
  #noteRefusal(shown: string, thrown: PlatformError): void {
    const caller = { kind: 'anonymous', address: this.#address } as const;
    this.#options.audit.refused({ caller, action: 'user.login', target: '', detail: `git over SSH, ${shown}` }, thrown);
  }

  async #run(channel: ServerChannel, text: string, protocol: string): Promise<void> {
    channel.on('error', () => {});
    const command = parseSshCommand(text);
    const owner = this.#owner;
    if (owner === null && command !== null) {
      refuse(channel, this.#refusal);
      return;
    }
    if (command === null || owner === null) {
      this.#greet(channel, text);
      return;
    }
    const gone = new AbortController();
    channel.once('close', () => gone.abort());
    try {
      await this.#demandOpen();
      const caller = await this.#callerNow(owner);
      const app = appOfPath(command.path);
      const code = await this.#options.sessions.serve(
        { caller, app, service: command.service, mode: 'stream', protocol, signal: gone.signal },
        () => ({
          input: channel,
          output: channel,
          errors: (bytes) => channel.stderr.write(bytes),
        }),
      );
      leave(channel, code < 0 ? 1 : code);
    } catch (error) {
      if (gone.signal.aborted) return;
      refuse(channel, refusalText(error, this.#options.logger));
    }
  }
}

function notKnown(message: string): PlatformError {
  return new PlatformError('auth.required', message, { hint: 'Connect again with another key.' });
}

/** Nothing of a password. */
function shownBy(context: AuthContext): string {
  return context.method === 'publickey' ? `the key ${keyFingerprint(context.key.data)}` : `by ${context.method}`;
}

/** What git shows as `fatal: remote error: ...`, instead of guessing about access rights. */
function refuse(channel: ServerChannel, text: string): void {
  channel.write(packetLine(`ERR ${text}\n`));
  leave(channel, 1);
}

function leave(channel: ServerChannel, code: number): void {
  if (channel.destroyed) return;
  channel.exit(code);
  channel.end();
}
