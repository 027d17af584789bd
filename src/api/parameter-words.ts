/** What parameters mean, for the OpenAPI document. The same name means the same everywhere, but for the exceptions below. */

const YES_NO = 'true or false, 1 or 0';

const WORDS: Readonly<Record<string, string>> = {
  address: 'A URL or host name, as a visitor has it.',
  app: 'Name of an app.',
  app1: 'Name of the one app.',
  app2: 'Name of the other app.',
  callback: 'Path at the provider, from its root on; percent-encoded.',
  client: 'Name of the app.',
  cname: 'A host name; may be repeated.',
  cnameOnly: `Whether only the extra host names are exchanged: ${YES_NO}.`,
  commit: "The caller's own name for the version.",
  context: 'Ignored: there are no roles.',
  customdata: 'What the unit tells of itself: JSON.',
  deploy: 'ID of a deploy.',
  disabled: `Whether new apps may not be made for it: ${YES_NO}.`,
  email: 'E-mail of a user.',
  env: 'Name of a variable; may be repeated.',
  filter: 'container: only what concerns units; node: nothing; empty: all.',
  follow: `Whether the answer stays open, with each new batch of entries as an array on a line of its own: ${YES_NO}.`,
  force: `Whether it is done although something speaks against it: ${YES_NO}.`,
  healer: 'Name of a healer, as they are listed.',
  height: 'Lines of the terminal.',
  hostname: 'ID of the unit, or its beginning.',
  ignoreerrors: 'The same as force.',
  image: 'Where to go back to: Image or ID of a deploy, a release (v3 or 3), or previous.',
  instance: 'Name of a service instance.',
  isolated: 'Ignored: a shell never runs inside of a unit.',
  limit: 'At most so many.',
  lines: 'At most so many entries, the newest; 0 for all that are kept.',
  locked: `true finds nothing, for locked apps are in no list: ${YES_NO}.`,
  message: 'What the deploy is about.',
  name: 'A part of the name.',
  noRestart: `Whether the units that run stay as they are until the next restart: ${YES_NO}.`,
  once: `Whether it runs once, in place of once for every unit: ${YES_NO}; false when absent.`,
  origin: 'How the code came: app-deploy, drag-and-drop or git.',
  owner: 'E-mail of the owner.',
  plan: 'Name of a plan.',
  platform: 'Name of a platform.',
  pool: 'Name of a pool.',
  private: `Whether the values are secrets: ${YES_NO}.`,
  process: 'Name of a process; empty or absent for all.',
  role: 'Finds nobody: there are no roles.',
  service: 'Name of a service.',
  skip: 'So many of the newest are left out.',
  source: 'Where entries come from: tancho for the platform itself, or the name of a process.',
  status: 'State of a unit; may be repeated.',
  team: 'Name of a team.',
  teamOwner: 'Name of the team that owns it.',
  teamowner: 'The same as teamOwner.',
  term: 'Kind of the terminal, such as xterm-256color.',
  terminal: `Whether there is a terminal, true when absent, or plain pipes: ${YES_NO}.`,
  token: 'The token that was mailed; without one it is asked for.',
  unbindall: `Whether the apps that are bound to it are unbound first: ${YES_NO}.`,
  unit: 'Name of a unit.',
  units: 'How many.',
  user: 'E-mail of a user.',
  userEmail: 'Only the user with this e-mail.',
  width: 'Columns of the terminal.',
};

/** By id of the operation and name of the parameter. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'app_tokens.revoke_one token': 'Id of a token, as they are listed.',
  'apps.log_push source': 'Under which source the lines appear; app when absent.',
  'apps.shell unit': 'Name, number or ID of a unit, or the beginning of its ID.',
  'deploys.create user': 'Who deploys, where an app token does.',
  'deploys.list app': 'Only deploys of this app.',
  'deploys.list service': 'Only deploys of apps that are bound to an instance of this service.',
  'deploys.rollback origin': 'Ignored: it is rollback.',
  'instances.list app': 'Only instances that are bound to this app.',
  'keys.remove_by_name name': 'Name of the key.',
  'logs.clear app': 'Name of the app; absent for all.',
  'platforms.add name': 'Name of the new platform, where the body is its definition alone.',
  'units.add process': 'Name of the process; absent for web, or the only one.',
  'units.remove process': 'Name of the process; absent for web, or the only one.',
  'units.report status': 'The state it reports.',
  'units.report unit': 'ID of the unit, or its beginning.',
  'users.remove user': 'E-mail of whom an admin removes; absent for oneself.',
};

/** Throws for a parameter without words, so that none goes without. */
export function wordsForParameter(operation: string, name: string): string {
  const words = EXCEPTIONS[`${operation} ${name}`] ?? WORDS[name];
  if (words === undefined) throw new Error(`parameter-words.ts says nothing of ${name} in ${operation}`);
  return words;
}
