import { Type } from '../schema.ts';
import { type AppSettings, NO_SETTINGS } from '../../domain/apps/app-settings.ts';
import type { AppView } from '../../domain/apps/apps.ts';
import { planFields, planToWire } from './plan.ts';
import { shape, standingList } from './shape.ts';
import { listedUnit, listedUnitUnion, unit, unitToWire, unitUnion } from './unit.ts';
import { ZERO_DATE } from './wire-time.ts';

const published = {
  Name: Type.String(),
  Framework: Type.String(),
  Repository: Type.String(),
  State: Type.String(),
  Units: Type.Array(unit),
  Teams: Type.Array(Type.String()),
};
const withPool = { ...published, Pool: Type.String() };
const lock = Type.Object({
  Locked: Type.Boolean(),
  Owner: Type.String(),
  Reason: Type.String(),
  AcquireDate: Type.String(),
});
/** Absent means unlocked, not swapped, and no extra names: clients of different ages want `cname` as a string or an array. */
const whenSet = {
  /** Where it answers by HTTPS. */
  url: Type.Optional(Type.String()),
  cname: Type.Optional(Type.Array(Type.String())),
  lock: Type.Optional(lock),
  swappedWith: Type.Optional(Type.String()),
};
/** Whatever programs have left. */
const customdata = Type.Optional(Type.Record(Type.String(), Type.Unsafe<unknown>({})));
const owners = {
  Platform: Type.String(),
  owner: Type.String(),
  teamowner: Type.String(),
  /** Older clients show it: whether code can be pushed. */
  ready: Type.Boolean(),
  ...whenSet,
};

const listed = { Ip: Type.String(), Name: Type.String(), Units: Type.Array(listedUnit) };
const listedUnion = {
  ...listed,
  Units: Type.Array(listedUnitUnion),
  State: Type.String(),
  Pool: Type.String(),
  Teams: Type.Array(Type.String()),
  ...owners,
};

function toWire(view: AppView) {
  const { app, units, state, repositoryUrl, address, plan, problems, linkedFrom = [], processUrls = [] } = view;
  return {
    Ip: address,
    Name: app.name,
    Framework: app.platform,
    Repository: repositoryUrl,
    State: state,
    Units: units.map(unitToWire),
    Teams: [...app.teams],
    Pool: app.pool,
    Platform: app.platform,
    owner: app.owner,
    teamowner: app.teamOwner,
    ready: !app.removing,
    description: app.description,
    deploys: app.deploys,
    ...(plan !== undefined && { plan: planToWire(plan) }),
    ...(problems.length > 0 && { problems: [...problems] }),
    ...(app.settings !== NO_SETTINGS && { settings: settingsToWire(app.settings) }),
    ...(view.url?.startsWith('https:') === true && { url: view.url }),
    ...(processUrls.length > 0 && {
      processUrls: Object.fromEntries(processUrls.map(({ process, url }) => [process, url])),
    }),
    ...(app.cname.length > 0 && { cname: [...app.cname] }),
    ...(app.links.length > 0 && { links: [...app.links] }),
    ...(linkedFrom.length > 0 && { linkedFrom: [...linkedFrom] }),
    ...(app.customData !== null && { customdata: app.customData }),
    ...(app.swappedWith !== null && { swappedWith: app.swappedWith }),
    // When the lock was taken is not known here.
    ...(app.removing && { lock: { Locked: true, Owner: '', Reason: 'app.remove', AcquireDate: ZERO_DATE } }),
  };
}

/** Published is an IP address; the union has the host name and port there, which clients show and open. */
function settingsToWire({ startCommands, counts, ...settings }: AppSettings) {
  return { ...settings, startCommands: { ...startCommands }, counts: { ...counts } };
}

const listedToWire = (view: AppView) => ({ ...toWire(view), Ip: view.ip });

export const appWithPool = shape(Type.Object(withPool), toWire);
export const appPlain = shape(Type.Object(published), toWire);
export const appUnion = shape(
  Type.Object({
    ...withPool,
    Units: Type.Array(unitUnion),
    Ip: Type.String(),
    ...owners,
    description: Type.String(),
    deploys: Type.Integer(),
    plan: Type.Optional(planFields),
    /** What is wrong with its units, a sentence each. */
    problems: Type.Optional(Type.Array(Type.String())),
    /** What is set in place of files in its source, for the next deploy. */
    settings: Type.Optional(
      Type.Object({
        startCommands: Type.Record(Type.String(), Type.String()),
        buildCommand: Type.String(),
        root: Type.String(),
        keepDevPackages: Type.Boolean(),
        counts: Type.Record(Type.String(), Type.Integer()),
      }),
    ),
    /** By process type, where those but `web` answer that the app's file has requests routed to. */
    processUrls: Type.Optional(Type.Record(Type.String(), Type.String())),
    /** Apps that it reaches at `http://<app>.internal`. */
    links: Type.Optional(Type.Array(Type.String())),
    /** Apps that reach it so. */
    linkedFrom: Type.Optional(Type.Array(Type.String())),
    customdata,
  }),
  toWire,
);
export const appSummaries = standingList(Type.Object(listed), listedToWire);
export const appSummariesUnion = standingList(Type.Object(listedUnion), toWire);

/** Strings only: older clients read this answer into a map of strings. */
const created = { status: Type.String(), repository_url: Type.String() };

function createdToWire(view: AppView) {
  const secure = view.url?.startsWith('https:') === true && { url: view.url };
  return { status: 'success', repository_url: view.repositoryUrl, ip: view.address, ...secure };
}

export const appCreated = shape(Type.Object(created), createdToWire);
export const appCreatedUnion = shape(
  Type.Object({ ...created, ip: Type.String(), url: Type.Optional(Type.String()) }),
  createdToWire,
);
