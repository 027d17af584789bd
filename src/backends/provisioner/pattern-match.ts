import { type Context, createContext, Script } from 'node:vm';

const MATCH_LIMIT_MS = 100;
/** Of the processor: on a busy machine the limit may pass while nothing runs. */
const HOPELESS_CPU_MS = 20;

/** `unjudged`: there was no time to look at it; `hopeless`: the pattern takes too long to try it again. */
export type Verdict = 'yes' | 'no' | 'unjudged' | 'hopeless';

let made: { readonly context: Context; readonly script: Script } | null = null;

/**
 * Whether a body matches. The pattern is a user's, a bad one can take for ever, and nothing else runs in this thread meanwhile.
 * `cpu`: as process.threadCpuUsage.
 */
export function matchOf(
  pattern: string,
  body: string,
  cpu: (before?: NodeJS.CpuUsage) => NodeJS.CpuUsage = (before) => process.threadCpuUsage(before),
): Verdict {
  const { context, script } = (made ??= {
    context: createContext({ pattern: '', body: '' }),
    script: new Script("new RegExp(pattern, 's').test(body)"),
  });
  Object.assign(context, { pattern, body });
  const before = cpu();
  try {
    return script.runInContext(context, { timeout: MATCH_LIMIT_MS }) === true ? 'yes' : 'no';
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') return 'no';
    const { user, system } = cpu(before);
    return (user + system) / 1_000 < HOPELESS_CPU_MS ? 'unjudged' : 'hopeless';
  }
}
