/** `tancho server`: starts the server, says where it answers, and ends it the way the signal asks for. */
import { mover } from '../../lib/move-claim.ts';
import type { Cli } from '../cli.ts';
import { report } from '../errors.ts';
import { facts } from '../output.ts';
import type { RunningServer, ServerDoor, StopSignal } from './door.ts';

/** A terminal and npm both pass one Ctrl-C on; only a later one means "at once". */
const SECOND_PRESS_MS = 1000;
const FORCED = 130;
/** Nobody has asked for the end, so whatever watches over services is to start it again where it cannot do so itself. */
const ENDED_BY_ITSELF = 1;
const STOP_ALL = ['server', 'stop', '--all'];
const HOW_TO_STOP = 'Ctrl-C stops the server and all apps; "tancho server stop" and SIGTERM leave the apps on the air.';

export async function runServer(cli: Cli, withWelcome: boolean): Promise<number> {
  const { server: door } = cli.context;
  const stopping = new AbortController();
  const { asked, isAskedAgain, isAllAsked } = whenAsked(door, stopping);
  const server = await cli.during('Starting', () => door.start());
  announce(cli, server);
  const welcome = withWelcome && !stopping.signal.aborted ? greet(cli, server, stopping.signal) : Promise.resolve();
  if (!withWelcome) cli.note(HOW_TO_STOP);
  const how = (await asked) === 'SIGINT' ? 'all' : 'leave-units';
  const why = server.whyEnding();
  if (why !== null) cli.warn(why);
  cli.note(
    how === 'all' ? 'Stopping the server and all apps ...' : 'Stopping the server; the apps stay on the air ...',
  );
  await welcome;
  await cli.during('Stopping', () => server.stop(how));
  const isMoving = how === 'leave-units' && (await mover(cli.context.home)) !== null;
  // Nothing is awaited from here on: a signal that came meanwhile would be lost with this process.
  if (how === 'leave-units' && isAllAsked()) return stopAppsToo(cli);
  cli.note('Stopped.');
  const hasEndedByItself = why !== null && !isAskedAgain();
  // This process serves again, by the same id, after a move of the state, and in another's place: what would start it again may end its edge with it.
  if (isMoving || (how === 'leave-units' && hasEndedByItself)) door.again();
  return hasEndedByItself ? ENDED_BY_ITSELF : 0;
}

/** Of a server that has stopped and left them: by the command for that, for the keeper looks after them only once this process has ended. */
function stopAppsToo(cli: Cli): number {
  cli.note('Stopping the apps, too ...');
  cli.context.server.again(STOP_ALL);
  cli.warn('This system has no means for that here. To stop the apps: tancho server stop --all');
  return ENDED_BY_ITSELF;
}

interface Asked {
  /** The first signal that asks to stop, which may be of the server itself. */
  readonly asked: Promise<StopSignal>;
  /** Somebody else has asked since. */
  isAskedAgain(): boolean;
  /** Somebody wants the end of the apps, too. */
  isAllAsked(): boolean;
}

/** The first signal fires `stopping`. A second SIGINT ends the process. */
function whenAsked(door: ServerDoor, stopping: AbortController): Asked {
  const { promise: asked, resolve } = Promise.withResolvers<StopSignal>();
  let signals = 0;
  let allAskedAt: number | null = null;
  door.onSignal((signal) => {
    signals += 1;
    stopping.abort(new Error('The server is stopping.'));
    resolve(signal);
    if (signal !== 'SIGINT') return;
    if (allAskedAt !== null && Date.now() - allAskedAt > SECOND_PRESS_MS) door.exit(FORCED);
    allAskedAt ??= Date.now();
  });
  return { asked, isAskedAgain: () => signals > 1, isAllAsked: () => allAskedAt !== null };
}

function announce(cli: Cli, server: RunningServer): void {
  const { apiUrl, edgeAddress, sshAddress } = server.ready;
  cli.note(`Tancho ${cli.context.version} is ready.`);
  cli.note(
    facts([
      ['API', apiUrl],
      ['Dashboard', `${apiUrl}/dashboard`],
      [
        'Apps',
        edgeAddress === null
          ? 'at edges of their own (tancho edge list)'
          : `http://<app>.${server.domain}${portOf(edgeAddress)}`,
      ],
      ['Git', `ssh://git@${sshAddress}/<app>.git and ${apiUrl}/git/<app>.git`],
      ['Home', cli.context.home],
      ['Isolation', server.isolation],
    ]),
  );
  const { firstAdmin } = server;
  if (firstAdmin === null) return;
  const password = server.passwordGiven ? '(the one you have set)' : `${firstAdmin.password}   (shown only this once)`;
  cli.note('');
  cli.note(
    facts([
      ['Admin', firstAdmin.email],
      ['Password', password],
    ]),
  );
}

/** `:8000` of `127.0.0.1:8000`; '' for the port that browsers take themselves. */
function portOf(address: string): string {
  const port = /:([0-9]+)$/.exec(address)?.[1] ?? '';
  return port === '' || port === '80' ? '' : `:${port}`;
}

/** A welcome that fails is reported, and the server goes on. */
async function greet(cli: Cli, server: RunningServer, signal: AbortSignal): Promise<void> {
  const { firstAdmin } = server;
  const { deploySample, howToDeploy } = await import('../welcome.ts');
  cli.note('');
  if (firstAdmin !== null) {
    try {
      const url = await deploySample(cli, { server, admin: firstAdmin, signal });
      cli.note(`\nThe sample app answers: ${cli.paint('bold', url)}\n`);
    } catch (error) {
      if (signal.aborted) return;
      cli.note('The sample app could not be deployed; the server itself runs.');
      report(cli.context, error);
      cli.note('');
    }
  }
  cli.note(howToDeploy(server, cli));
  cli.note(`\n${HOW_TO_STOP}`);
}
