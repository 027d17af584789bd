/** Every action of the dashboard: where its button is, what one fills in, and what it sends. */
import type { Line } from '../../src/dashboard/api/operations.ts';
import { BEA } from './populated.ts';

export interface Action {
  /** Below /dashboard. */
  readonly at: string;
  /** What the button is called; the first one of that name. */
  readonly button: string | RegExp;
  /** Of all buttons that do the same with something else. */
  readonly family?: RegExp;
  readonly sends: Line;
  /** Label of a field -> what is typed into it. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Label of a choice -> its value. */
  readonly choices?: Readonly<Record<string, string>>;
  /** Of the button in the dialog that comes first; absent: the button does it. */
  readonly sure?: string | RegExp;
  /** What has to be typed before one is sure. */
  readonly typed?: string;
  /** What is sent before, and succeeds. */
  readonly after?: Line;
  /** What a server answers that has done it. */
  readonly answer?: object;
  /** Nothing of the page is left afterwards. */
  readonly reloads?: boolean;
}

/** Stands in no address, whatever is done with it. */
export const SECRET = 'hush-hush';
const SETTINGS = '/apps/shop/settings';
const INSTANCE = '/instances/kept';

const OF_APPS: readonly Action[] = [
  { at: '/new', button: 'Create app', sends: 'POST /apps', fields: { Name: 'another', Description: 'typed' } },
  { at: '/apps/shop', button: 'Restart', sends: 'POST /apps/{app}/restart' },
  { at: '/apps/shop', button: 'Stop', sends: 'POST /apps/{app}/stop' },
  { at: '/apps/idle', button: 'Start', sends: 'POST /apps/{app}/start' },
  { at: '/apps/shop', button: 'One web unit more', sends: 'PUT /apps/{app}/processes/{process}/units' },
  { at: '/apps/shop', button: 'One web unit less', sends: 'PUT /apps/{app}/processes/{process}/units' },
  {
    ...{ at: '/apps/shop/env', button: 'Set variables', sends: 'POST /apps/{app}/env' },
    ...{ fields: { Variables: `TYPED=${SECRET}` }, sure: 'Set 1 variable' },
  },
  {
    ...{ at: '/apps/shop/env', button: /^Change CANARY$/, family: /^Change [A-Z_]+$/, sends: 'POST /apps/{app}/env' },
    ...{ fields: { Variables: `CANARY=${SECRET}` }, sure: 'Set 1 variable' },
  },
  {
    at: '/apps/shop/env',
    button: 'Remove CANARY',
    family: /^Remove [A-Z_]+$/,
    sends: 'DELETE /apps/{app}/env',
    sure: 'Remove',
  },
  {
    ...{
      at: '/apps/shop/deploys',
      button: 'Roll back to v1',
      family: /^Roll back to v\d+$/,
      sends: 'POST /apps/{app}/deploy/rollback',
    },
    sure: 'Roll back',
  },
  {
    ...{ at: '/apps/shop/deploys', button: 'Deploy an image', sends: 'POST /apps/{app}/deploy' },
    ...{ fields: { Image: 'typed.example/shop:1' }, sure: 'Deploy' },
  },
  { at: '/apps/shop/terminal', button: 'Run', sends: 'POST /apps/{app}/run', fields: { Command: 'node -v' } },
  {
    ...{ at: SETTINGS, button: 'Add a domain', sends: 'POST /apps/{app}/cname' },
    ...{ fields: { 'Host name': 'typed.example.com' }, sure: 'Add' },
  },
  {
    ...{ at: SETTINGS, button: 'Exchange addresses', sends: 'PUT /swap' },
    ...{ choices: { With: 'depot' }, sure: 'Exchange' },
  },
  {
    ...{ at: SETTINGS, button: 'Change the quota', sends: 'PUT /apps/{app}/quota' },
    ...{ fields: { 'Units that it may have': '7' }, sure: 'Change' },
  },
  { at: SETTINGS, button: 'Remove www.example.com', sends: 'DELETE /apps/{app}/cname', sure: 'Remove' },
  { at: SETTINGS, button: 'Save', sends: 'PUT /apps/{app}', fields: { Description: 'typed' } },
  {
    ...{ at: SETTINGS, button: 'Save', sends: 'POST /apps/{app}/plan', after: 'PUT /apps/{app}' },
    choices: { Plan: 'big' },
  },
  {
    ...{ at: SETTINGS, button: 'Give a team access', sends: 'PUT /apps/{app}/teams/{team}' },
    ...{ fields: { Team: 'typed' }, sure: 'Give access' },
  },
  {
    ...{ at: SETTINGS, button: 'Take away the access of bakers', sends: 'DELETE /apps/{app}/teams/{team}' },
    sure: 'Take away',
  },
  {
    ...{ at: SETTINGS, button: 'Save the treatment of requests', sends: 'PUT /apps/{app}/edge' },
    fields: { 'Requests at one time': '7' },
  },
  {
    ...{ at: SETTINGS, button: 'New volume', sends: 'POST /apps/{app}/volumes' },
    ...{ fields: { Name: 'typed' }, sure: 'Create' },
  },
  {
    ...{ at: SETTINGS, button: 'Mount spare', sends: 'PUT /apps/{app}/volumes/{volume}/mount' },
    ...{ fields: { 'Where units see spare': '/typed' }, sure: 'Mount' },
  },
  { at: SETTINGS, button: 'Unmount uploads', sends: 'DELETE /apps/{app}/volumes/{volume}/mount', sure: 'Unmount' },
  {
    ...{ at: SETTINGS, button: /^Change (?:uploads|spare)$/, sends: 'PUT /apps/{app}/volumes/{volume}' },
    ...{ fields: { 'What it is to hold at most': '2G' }, sure: 'Change' },
  },
  {
    ...{ at: SETTINGS, button: 'Remove the volume spare', sends: 'DELETE /apps/{app}/volumes/{volume}' },
    ...{ sure: 'Remove', typed: 'spare' },
  },
  {
    ...{ at: SETTINGS, button: 'Link an app', sends: 'PUT /apps/{app}/links/{to}' },
    ...{ fields: { App: 'typed' }, sure: 'Link' },
  },
  { at: SETTINGS, button: 'Take away the link to depot', sends: 'DELETE /apps/{app}/links/{to}', sure: 'Take away' },
  { at: SETTINGS, button: 'New token', sends: 'POST /tokens', answer: { Token: 'made' } },
  { at: SETTINGS, button: /^Revoke the token/, sends: 'DELETE /apps/{app}/tokens/{token}', sure: 'Revoke' },
  { at: SETTINGS, button: 'Remove shop', sends: 'DELETE /apps/{app}', sure: 'Remove the app', typed: 'shop' },
];

const SERVICE = '/services/canaries';

const OF_SERVICES: readonly Action[] = [
  {
    ...{ at: '/services', button: 'New service', sends: 'POST /services' },
    ...{ fields: { Manifest: `id: typed\npassword: ${SECRET}` }, sure: 'Add' },
  },
  {
    ...{ at: SERVICE, button: 'Give a team access', sends: 'PUT /services/{service}/{team}' },
    ...{ fields: { Team: 'typed' }, sure: 'Give access' },
  },
  {
    ...{ at: SERVICE, button: "Take a team's access", sends: 'DELETE /services/{service}/{team}' },
    ...{ fields: { Team: 'typed' }, sure: 'Take away' },
  },
  {
    ...{ at: SERVICE, button: 'Replace the manifest', sends: 'PUT /services' },
    ...{ fields: { Manifest: `id: canaries\npassword: ${SECRET}` }, sure: 'Replace' },
  },
  {
    ...{ at: SERVICE, button: 'Change the text', sends: 'PUT /services/{service}/doc' },
    ...{ fields: { 'How it is used': 'typed' }, sure: 'Change' },
  },
  {
    ...{ at: SERVICE, button: 'Remove the service canaries', sends: 'DELETE /services/{service}' },
    ...{ sure: 'Remove', typed: 'canaries' },
  },
  {
    ...{ at: '/services', button: 'New instance', sends: 'POST /services/instances' },
    ...{ fields: { Name: 'typed' }, sure: 'Create' },
  },
  {
    ...{ at: INSTANCE, button: 'Change', sends: 'PUT /services/{service}/instances/{instance}' },
    ...{ fields: { Description: 'typed' }, sure: 'Change' },
  },
  {
    ...{ at: INSTANCE, button: 'Bind an app', sends: 'PUT /services/instances/{instance}/{app}' },
    ...{ choices: { App: 'depot' }, sure: 'Bind', answer: {} },
  },
  { at: INSTANCE, button: 'Unbind shop', sends: 'DELETE /services/instances/{instance}/{app}', sure: 'Unbind' },
  {
    ...{ at: INSTANCE, button: 'Give a team access', sends: 'PUT /services/instances/permission/{instance}/{team}' },
    ...{ fields: { Team: 'typed' }, sure: 'Give access' },
  },
  {
    ...{ at: INSTANCE, button: 'Take away the access of bakers' },
    ...{ sends: 'DELETE /services/instances/permission/{instance}/{team}', sure: 'Take away' },
  },
  {
    ...{ at: INSTANCE, button: 'Remove', sends: 'DELETE /services/instances/{instance}' },
    ...{ sure: 'Remove', typed: 'kept' },
  },
];

const OF_PEOPLE: readonly Action[] = [
  { at: '/teams', button: 'New team', sends: 'POST /teams', fields: { Name: 'typed' }, sure: 'Create' },
  {
    ...{
      at: '/teams',
      button: 'Add a member to bakers',
      family: /^Add a member to /,
      sends: 'PUT /teams/{team}/{user}',
    },
    ...{ fields: { 'E-mail': 'typed@example.com' }, sure: 'Add' },
  },
  {
    at: '/teams',
    button: `Remove ${BEA.email} from bakers`,
    family: /^Remove \S+ from /,
    sends: 'DELETE /teams/{team}/{user}',
    sure: 'Remove',
  },
  {
    at: '/teams',
    button: 'Remove the team bakers',
    family: /^Remove the team /,
    sends: 'DELETE /teams/{team}',
    sure: 'Remove',
  },
  {
    ...{ at: '/users', button: 'New user', sends: 'POST /users' },
    ...{ fields: { 'E-mail': 'typed@example.com', Password: `${SECRET} words here` }, sure: 'Create' },
  },
  {
    ...{
      at: '/users',
      button: `Make an admin: ${BEA.email}`,
      family: /^Make an admin: /,
      sends: 'PUT /users/{email}/admin',
    },
    sure: 'Make an admin',
  },
  {
    ...{
      at: '/users',
      button: 'Make a user: admin@example.com',
      family: /^Make a user: /,
      sends: 'DELETE /users/{email}/admin',
    },
    sure: 'Take away',
  },
  {
    ...{ at: '/users', button: 'Quota of admin@example.com', family: /^Quota of /, sends: 'PUT /users/{email}/quota' },
    ...{ fields: { 'Apps that admin@example.com may own': '3' }, sure: 'Change' },
  },
  {
    at: '/users',
    button: `Remove ${BEA.email}`,
    family: /^Remove \S+@\S+$/,
    sends: 'DELETE /users',
    sure: 'Remove',
    typed: BEA.email,
  },
  {
    ...{ at: '/account', button: 'Add a key', sends: 'POST /users/keys' },
    ...{ fields: { 'Public key': 'ssh-ed25519 typed', Name: 'typed' }, sure: 'Add' },
  },
  {
    ...{ at: '/account', button: 'Remove the key laptop', family: /^Remove the key /, sure: 'Remove' },
    sends: 'DELETE /users/keys/{name}',
  },
  { at: '/account', button: 'Make a new one', sends: 'POST /users/api-key', sure: 'Make a new one' },
  {
    ...{ at: '/account', button: 'Change the password', sends: 'PUT /users/password' },
    fields: { 'Old password': SECRET, 'New password': `${SECRET} new`, 'New password, again': `${SECRET} new` },
  },
  {
    ...{ at: '/account', button: 'Sign out everywhere', sends: 'DELETE /users/sessions', reloads: true },
    sure: 'Sign out everywhere',
  },
];

const OF_THE_PLATFORM: readonly Action[] = [
  {
    ...{ at: '/alerts', button: 'Send a test to all receivers', sends: 'POST /alerts/test' },
    answer: { mailed: [], webhooks: 1 },
  },
  {
    ...{ at: '/alerts', button: 'Change the rule app_down', family: /^Change the rule /, sends: 'PUT /alerts' },
    ...{ fields: { 'Minutes that it has to be wrong': '7' }, sure: 'Change', answer: {} },
  },
  {
    ...{ at: '/alerts', button: 'Change who gets letters', sends: 'PUT /alerts' },
    ...{ fields: { 'E-mail addresses': 'typed@example.com' }, sure: 'Change', answer: {} },
  },
  { at: '/backups', button: 'Make one now', sends: 'POST /backups' },
  {
    ...{ at: '/certificates', button: 'Upload a certificate', sends: 'POST /certificates' },
    ...{ fields: { Certificate: 'typed', Key: SECRET }, sure: 'Upload', answer: {} },
  },
  {
    ...{ at: '/certificates', button: /^Renew the certificate of/, sends: 'POST /certificates/{name}/renew' },
    answer: { state: 'issued', problem: '' },
  },
  {
    ...{ at: '/certificates', button: /^Remove the certificate of/, sends: 'DELETE /certificates/{name}' },
    sure: 'Remove',
  },
  {
    ...{ at: '/drains', button: 'New drain', sends: 'POST /drains' },
    ...{ fields: { URL: 'https://typed.example/' }, sure: 'Create', answer: {} },
  },
  {
    ...{ at: '/drains', button: /^Test the drain to/, sends: 'POST /drains/{drain}/test' },
    answer: { delivered: true, answer: '200' },
  },
  {
    ...{ at: '/drains', button: /^Change the drain to/, sends: 'PUT /drains/{drain}' },
    ...{ fields: { URL: 'https://typed.example/' }, sure: 'Change', answer: {} },
  },
  { at: '/drains', button: /^Remove the drain to/, sends: 'DELETE /drains/{drain}', sure: 'Remove' },
  {
    ...{ at: '/webhooks', button: 'New webhook', sends: 'POST /webhooks' },
    ...{ fields: { URL: 'https://typed.example/', 'Name of the app or team': 'shop' }, sure: 'Create' },
    answer: { secret: 'whsec_made' },
  },
  {
    ...{ at: '/webhooks', button: /^Test the webhook/, sends: 'POST /webhooks/{webhook}/test' },
    answer: { state: 'delivered', status: 204, answer: '' },
  },
  { at: '/webhooks', button: /^Remove the webhook/, sends: 'DELETE /webhooks/{webhook}', sure: 'Remove' },
  {
    ...{ at: '/webhooks/:webhook', button: 'Send again: webhook.test', answer: {} },
    sends: 'POST /webhooks/{webhook}/deliveries/{delivery}/resend',
  },
  {
    ...{ at: '/registries', button: 'New login', sends: 'PUT /registries/{host}' },
    ...{ fields: { Registry: 'typed.example', User: 'typed', 'Password or token': SECRET }, sure: 'Keep' },
  },
  { at: '/registries', button: /^Forget the login/, sends: 'DELETE /registries/{host}', sure: 'Forget' },
  { at: '/pools', button: 'New pool', sends: 'POST /pools', fields: { Name: 'typed' }, sure: 'Create' },
  {
    ...{ at: '/pools', button: 'Give a team access to fast', family: /^Give a team access to / },
    ...{ sends: 'POST /pools/{pool}/team', fields: { Team: 'typed' }, sure: 'Give access' },
  },
  {
    ...{ at: '/pools', button: "Take a team's access to fast", family: /^Take a team's access to / },
    ...{ sends: 'DELETE /pools/{pool}/team', choices: { Team: 'crew' }, sure: 'Take away' },
  },
  {
    ...{ at: '/pools', button: 'Change the pool fast', family: /^Change the pool /, sends: 'PUT /pools/{pool}' },
    ...{ fields: { 'Engine that runs its apps': 'typed' }, sure: 'Change' },
  },
  {
    at: '/pools',
    button: 'Remove the pool fast',
    family: /^Remove the pool /,
    sends: 'DELETE /pools/{pool}',
    sure: 'Remove',
  },
  { at: '/plans', button: 'New plan', sends: 'POST /plans', fields: { Name: 'typed' }, sure: 'Create' },
  { at: '/plans', button: 'Remove the plan big', sends: 'DELETE /plans/{plan}', sure: 'Remove' },
  {
    ...{ at: '/platforms', button: 'New platform', sends: 'POST /platforms' },
    ...{ fields: { Name: 'typed', Definition: 'typed: true' }, sure: 'Add' },
  },
  { at: '/platforms', button: 'Disable static', family: /^(?:Disable|Enable) /, sends: 'PUT /platforms/{platform}' },
  {
    ...{ at: '/platforms', button: 'Change the platform mine', sends: 'PUT /platforms/{platform}' },
    ...{ fields: { Definition: 'typed: true' }, sure: 'Change' },
  },
  { at: '/platforms', button: 'Remove the platform mine', sends: 'DELETE /platforms/{platform}', sure: 'Remove' },
  {
    ...{ at: '/healers', button: /^Run now: /, sends: 'POST /healers/{healer}' },
    answer: { healer: 'any', found: [] },
  },
];

export const ACTIONS: readonly Action[] = [...OF_APPS, ...OF_SERVICES, ...OF_PEOPLE, ...OF_THE_PLATFORM];

/** What is sent by no button of a screen, and tested where the sending is. */
export const ELSEWHERE: Readonly<Partial<Record<Line, string>>> = {
  'POST /auth/session': 'signing in: first-steps.long.test.ts',
  'DELETE /auth/session': 'signing out: first-steps.long.test.ts',
  'POST /users/{email}/password': 'a forgotten password: first-steps.long.test.ts',
  'POST /apps/{app}/deploy/cancel': 'a deploy that goes on: actions.long.test.ts',
};

/** Buttons that send nothing that changes something. */
export const LOOKING: readonly RegExp[] = [
  /^Show the value of|^Hide the value of/,
  /^Copy/,
  /^(?:Choose a folder|Choose an archive)$/,
  /^(?:Open a shell|Open another|End)$/,
  /^(?:Cancel|Close|Show all|Show more|Newer|Older|Dismiss)$/,
  /^(?:Show|Hide)$/,
  /^Look(?: now: .+)?$/,
  /^What changed/,
  /^Enable /,
  /^(?:Pause|Follow|Now)$/,
  /^(?:Earlier|Later|Zoom in|Zoom out)$/,
];
