import { repeatedly } from '../../lib/repeatedly.ts';
import { PlatformError } from '../errors.ts';

const RECHECK_MS = 3_000;

interface RightWatch {
  /** Fires, with a PlatformError `access.denied` as its reason, when the right is lost. */
  readonly lost: AbortSignal;
  readonly stop: () => void;
}

/** For what goes on for long: looks now and then whether its caller still may do it. A store that cannot be asked now is asked again. */
export function watchRight(isAllowed: () => Promise<boolean>, recheckMs = RECHECK_MS): RightWatch {
  const lost = new AbortController();
  const stop = repeatedly(recheckMs, async () => {
    if (!(await isAllowed().catch(() => true))) lost.abort(rightLost());
  });
  return { lost: lost.signal, stop: () => void stop() };
}

function rightLost(): PlatformError {
  return new PlatformError('access.denied', 'You have no access to the app any more.', {
    hint: 'Ask its owner, or look whether it is still there.',
  });
}
