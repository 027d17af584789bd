import { Type } from '../schema.ts';
import type { Deploy } from '../../domain/deploys/deploy.ts';
import type { DeployView, ListedDeploy } from '../../domain/deploys/deploys.ts';
import { shape } from './shape.ts';
import { nanoseconds, ZERO_DATE } from './wire-time.ts';

const rest = {
  App: Type.String(),
  Timestamp: Type.String(),
  Duration: Type.Integer(),
  Commit: Type.String(),
  Error: Type.String(),
};
const listed = { ID: Type.String(), ...rest };
const detailA = {
  ...listed,
  Image: Type.String(),
  Log: Type.String(),
  Origin: Type.String(),
  CanRollback: Type.Boolean(),
  RemoveDate: Type.String(),
};
/** `Id`, as the specification spells it in this one place (section 2, Deploy detail, Variant B). */
const detailB = { Id: Type.String(), ...rest, Diff: Type.String() };
const extra = {
  User: Type.String(),
  Origin: Type.String(),
  Image: Type.String(),
  State: Type.String(),
  Cause: Type.String(),
  Warning: Type.String(),
  Release: Type.Integer(),
  FailedRequests: Type.Integer(),
  WaitsFor: Type.String(),
};

/** What can be gone back to is named by its release; an image by its own name. '' while there is no release. */
function imageOf({ app, image, release }: Deploy): string {
  if (image !== '') return image;
  return release === null ? '' : `${app}:v${release}`;
}

function toWire(deploy: Deploy) {
  return {
    ID: deploy.id,
    Id: deploy.id,
    App: deploy.app,
    Timestamp: deploy.startedAt.replace(/Z$/, '+00:00'),
    Duration: nanoseconds(deploy.durationMs),
    Commit: deploy.commit,
    Error: deploy.error,
    Image: imageOf(deploy),
    Origin: deploy.origin,
    User: deploy.by,
    State: deploy.state,
    Cause: deploy.cause ?? '',
    Warning: deploy.warning,
    Release: deploy.release ?? 0,
    FailedRequests: deploy.failedRequests,
  };
}

function listedToWire({ deploy, canRollback, waitsFor }: ListedDeploy) {
  return { ...toWire(deploy), CanRollback: canRollback, WaitsFor: waitsFor, RemoveDate: deploy.removedAt ?? ZERO_DATE };
}

function detailToWire(view: DeployView) {
  return { ...listedToWire(view), Log: view.log, Diff: view.diff };
}

const listToWire = (deploys: readonly ListedDeploy[]) => deploys.map(listedToWire);

export const deploys = shape(Type.Array(Type.Object(listed)), listToWire);
const listedExtra = { ...extra, CanRollback: Type.Boolean(), RemoveDate: Type.String() };
export const deploysUnion = shape(Type.Array(Type.Object({ ...listed, ...listedExtra })), listToWire);
export const deployA = shape(Type.Object(detailA), detailToWire);
export const deployB = shape(Type.Object(detailB), detailToWire);
export const deployUnion = shape(Type.Object({ ...detailA, ...detailB, ...extra }), detailToWire);
