/** What a mock provider does on demand instead of what it should. */
import { OPERATIONS, type Operation } from '../contract.ts';

export const MISDEEDS = {
  fail: 'answers an error (status, default 500) and does nothing',
  'fail-after': 'does it and answers an error (status, default 500)',
  hang: 'never answers and does nothing',
  'hang-after': 'does it and never answers',
  die: 'closes the connection and does nothing',
  'die-after': 'does it and closes the connection',
  exit: 'does it and ends the whole process (only where the process is its own)',
  slow: 'does it and answers after a while (ms, default 1000)',
  late: 'waits (ms, default 1000), then does it and answers, even when nobody waits any more',
  twice: 'does it twice, as when a proxy has repeated the call, and answers what it says the second time',
  forget: 'forgets all it knows before, as after a restart without its data',
  drip: 'does it and sends its answer byte by byte, for ever',
  lie: 'says that it has been done, with an answer that looks right, and does nothing',
  garbage: 'does it and answers what is no JSON',
  page: 'does it and answers 200 with a web page, as a proxy does',
  leak: 'does it and answers 500 with what should have been the answer',
  'wrong-types': 'does it and answers JSON of another shape',
  'bad-names': 'does it and answers variables whose names or values no environment can have',
  huge: 'does it and answers 64 MB',
  cut: 'does it and ends in the middle of the answer',
  redirect: 'does nothing and sends the caller elsewhere (to, default http://169.254.169.254/)',
} as const;
export type Misdeed = keyof typeof MISDEEDS;

export interface Rule {
  /** `all`: every call. */
  readonly on: Operation | 'all';
  readonly do: Misdeed;
  /** How often; without it until the rule is taken back. */
  readonly times?: number;
  readonly status?: number;
  readonly ms?: number;
  readonly to?: string;
}

/** Throws an Error that says what is wrong with it. */
export function parseRule(given: unknown): Rule {
  if (typeof given !== 'object' || given === null) throw new Error('A rule is a JSON object.');
  const { on, do: misdeed, times, status, ms, to, ...others } = given as Record<string, unknown>;
  const known = Object.keys(others)[0];
  if (known !== undefined) throw new Error(`A rule has no "${known}"; it has on, do, times, status, ms, to.`);
  if (on !== 'all' && !OPERATIONS.includes(on as Operation)) {
    throw new Error(`"on" is one of: all, ${OPERATIONS.join(', ')}.`);
  }
  if (typeof misdeed !== 'string' || !(misdeed in MISDEEDS)) {
    throw new Error(`"do" is one of: ${Object.keys(MISDEEDS).join(', ')}.`);
  }
  if (to !== undefined && typeof to !== 'string') throw new Error('"to" is an address.');
  return {
    on: on as Rule['on'],
    do: misdeed as Misdeed,
    ...numberField('times', times, 1, 1_000_000),
    ...numberField('status', status, 200, 599),
    ...numberField('ms', ms, 0, 600_000),
    ...(to === undefined ? {} : { to }),
  };
}

function numberField(name: string, value: unknown, least: number, most: number): Record<string, number> {
  if (value === undefined) return {};
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return { [name]: value };
  throw new Error(`"${name}" is a whole number from ${least} to ${most}.`);
}

/** `bind=hang`, `create=fail:503`, `all=slow:200`, `bind=die-after*2`: a rule on a command line. */
export function ruleOfText(text: string): Rule {
  const match = /^([a-zA-Z]+)=([a-z-]+)(?::([0-9]+))?(?:\*([0-9]+))?$/.exec(text);
  if (match === null)
    throw new Error(`"${text}" is no rule; one is for example bind=hang, create=fail:503, all=slow:200*3.`);
  const [, on, misdeed, number, times] = match;
  const amount =
    number === undefined
      ? {}
      : misdeed === 'slow' || misdeed === 'late'
        ? { ms: Number(number) }
        : { status: Number(number) };
  return parseRule({ on, do: misdeed, ...amount, ...(times === undefined ? {} : { times: Number(times) }) });
}

export interface RuleBook {
  list(): Rule[];
  /** Before those that are there. */
  add(rule: Rule): void;
  clear(): void;
  /** The rule for this call, which counts as used; null: behave. */
  take(operation: Operation): Rule | null;
}

export function createRuleBook(): RuleBook {
  let rules: { rule: Rule; left: number }[] = [];
  return {
    list: () => rules.map(({ rule, left }) => (left === Infinity ? rule : { ...rule, times: left })),
    add: (rule) => void rules.unshift({ rule, left: rule.times ?? Infinity }),
    clear: () => void (rules = []),
    take(operation) {
      const found = rules.find(({ rule }) => rule.on === operation || rule.on === 'all');
      if (found === undefined) return null;
      found.left -= 1;
      rules = rules.filter(({ left }) => left > 0);
      return found.rule;
    },
  };
}
