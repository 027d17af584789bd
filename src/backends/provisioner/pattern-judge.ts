/**
 * Judges the patterns of health checks in a thread of their own: one may take a tenth of a second at each look, and in the main thread
 * everybody's requests and deploys would wait for it. The thread begins with the first question and ends a minute after the last.
 */
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { withDeadline } from '../../lib/deadline.ts';
import { KeyedQueue } from '../../lib/keyed-queue.ts';
import { Turns } from '../../lib/turns.ts';
import type { Verdict } from './pattern-match.ts';
import type { PatternAnswer, PatternQuestion } from './pattern-thread.ts';

const IDLE_MS = 60_000;
/** For an answer, with all that is asked before. */
const WAIT_MS = 5_000;
/** The thread gives up sooner by itself, unless it gets no time at all. */
const ANSWER_MS = 10_000;
const LATE: PatternAnswer = { verdict: 'unjudged', cpuMs: 0 };
/** By what it was asked, as far as anybody knows. */
const GONE: PatternAnswer = { verdict: 'unjudged', cpuMs: ANSWER_MS };
const LIMITS = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 };
/** A pattern that has taken longer rests, for its app, for so many times as long: there is one thread for all. */
const SLOW_MS = 10;
const REST = 20;
/** Text, from the beginning or up to the end: it is found as quickly as it is read. */
const PLAIN = /^\^?[^\\^$.*+?()[\]{}|]{1,64}\$?$/;

/** Each app has one question among those that have turns with the thread, whatever else it asks. */
const queue = new KeyedQueue();
const turns = new Turns(1);
/** By app and pattern, until when. */
const resting = new Map<string, number>();
let worker: Worker | null = null;
let idle: NodeJS.Timeout | null = null;

interface Asking {
  /** Whose unit it is. */
  readonly app: string;
  readonly signal: AbortSignal;
}

/** `unjudged` also where the signal fires, or nobody had time for it within some seconds. */
export async function judge(question: PatternQuestion, { app, signal }: Asking): Promise<Verdict> {
  const { pattern, body } = question;
  if (PLAIN.test(pattern)) return new RegExp(pattern, 's').test(body) ? 'yes' : 'no';
  return withDeadline(WAIT_MS, signal, (limited) => {
    return new Promise((resolve, reject) => {
      const leave = (): void => resolve('unjudged');
      limited.addEventListener('abort', leave, { once: true });
      if (limited.aborted) return leave();
      const inTurn = (): Promise<Verdict> => turns.run(() => judged(question, app, limited), limited);
      queue.run(app, inTurn, limited).then(resolve, reject);
    });
  });
}

async function judged(question: PatternQuestion, app: string, signal: AbortSignal): Promise<Verdict> {
  const key = `${app} ${question.pattern}`;
  const now = performance.now();
  for (const [slow, until] of resting) if (until <= now) resting.delete(slow);
  if (signal.aborted || resting.has(key)) return 'unjudged';
  const { verdict, cpuMs } = await asked(question);
  if (cpuMs > SLOW_MS) resting.set(key, performance.now() + cpuMs * REST);
  return verdict;
}

async function asked(question: PatternQuestion): Promise<PatternAnswer> {
  if (idle !== null) clearTimeout(idle);
  let thread: Worker;
  try {
    thread = worker ??= begun();
  } catch {
    // The machine has as many threads as it may.
    return LATE;
  }
  const answer = await new Promise<PatternAnswer>((resolve) => {
    const done = (given: PatternAnswer): void => {
      clearTimeout(late);
      thread.off('message', done).off('exit', gone).unref();
      resolve(given);
    };
    const gone = (): void => done(GONE);
    const late = setTimeout(done, ANSWER_MS, LATE);
    thread.on('message', done).on('exit', gone).ref();
    thread.postMessage(question);
  });
  if (answer === LATE) await end(thread);
  idle = setTimeout(() => void end(thread), IDLE_MS).unref();
  return answer;
}

function begun(): Worker {
  const program = new URL(`./pattern-thread${extname(import.meta.url)}`, import.meta.url);
  const thread = new Worker(program, { resourceLimits: LIMITS });
  // It ends by an error, too.
  thread.on('error', () => undefined);
  thread.once('exit', () => {
    if (worker === thread) worker = null;
  });
  return thread;
}

async function end(thread: Worker): Promise<void> {
  if (worker === thread) worker = null;
  await thread.terminate();
}
