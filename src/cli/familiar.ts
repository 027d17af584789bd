/** Pure: words that people bring along from other platforms, and which command of this one they mean. */

/** At the top, beside the nouns. */
const WORDS: Readonly<Record<string, string>> = {
  addons: 'service list',
  bash: 'app shell',
  build: 'deploy',
  config: 'env get',
  console: 'app shell',
  destroy: 'app remove',
  domain: 'cname list',
  domains: 'cname list',
  down: 'app stop',
  exec: 'app run',
  init: 'app create',
  logs: 'app log',
  ls: 'app list',
  open: 'app open-url',
  ps: 'unit list',
  push: 'deploy',
  redeploy: 'app restart',
  releases: 'deploy list',
  rollback: 'deploy rollback',
  scale: 'unit add',
  secrets: 'env get',
  setup: 'app create',
  sh: 'app shell',
  ssh: 'app shell',
  status: 'app info',
  up: 'deploy',
};

/** Below any noun, when it has the verb that is meant. */
const VERBS: Readonly<Record<string, readonly string[]>> = {
  add: ['create', 'add'],
  console: ['shell'],
  delete: ['remove', 'unset'],
  destroy: ['remove'],
  edit: ['update', 'set'],
  exec: ['run'],
  get: ['info'],
  list: ['get'],
  logs: ['log'],
  ls: ['list', 'get'],
  new: ['create'],
  open: ['open-url'],
  ps: ['info'],
  rm: ['remove', 'unset'],
  scale: ['add'],
  show: ['info', 'get', 'list'],
  status: ['info'],
  set: ['add', 'update'],
};

/** "logs" -> "app log", "app logs" -> "app log", "config:set" -> "env set"; null when nothing is known of it. */
export function familiar(words: readonly string[], verbsOf: (noun: string) => readonly string[]): string | null {
  const [first = '', second] = words.flatMap((word) => word.split(':')).filter((word) => word !== '');
  const noun = nounFor(first, verbsOf);
  if (noun === null) return WORDS[first] ?? (verbsOf('app').includes(first) ? `app ${first}` : null);
  if (second === undefined) return noun === first ? null : (WORDS[first] ?? listOf(noun, verbsOf));
  const verbs = verbsOf(noun);
  const found = [second, ...(VERBS[second] ?? [])].find((verb) => verbs.includes(verb));
  return found === undefined ? (WORDS[first] ?? null) : `${noun} ${found}`;
}

/** Itself, its singular, or what others call it. */
function nounFor(word: string, verbsOf: (noun: string) => readonly string[]): string | null {
  const others: Readonly<Record<string, string>> = { config: 'env', domains: 'cname', addons: 'instance' };
  return [word, word.replace(/s$/, ''), others[word] ?? ''].find((noun) => verbsOf(noun).length > 0) ?? null;
}

function listOf(noun: string, verbsOf: (noun: string) => readonly string[]): string {
  return verbsOf(noun).includes('list') ? `${noun} list` : noun;
}
