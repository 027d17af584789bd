import { Type } from '../schema.ts';
import { type Unit, unitName } from '../../domain/units/unit.ts';
import { hostPort } from '../../lib/host-port.ts';

const listed = { Name: Type.String(), State: Type.String() };
/** What clients newer than the specification read beside it. */
const extra = { ID: Type.String(), AppName: Type.String(), ProcessName: Type.String(), Status: Type.String() };
/** Where it listens, as they take a URL apart; absent when it does not. */
const address = { Address: Type.Optional(Type.Object({ Scheme: Type.String(), Host: Type.String() })) };

export const listedUnit = Type.Object(listed);
export const listedUnitUnion = Type.Object({ ...listed, ...extra });
export const unit = Type.Object({ Ip: Type.String(), ...listed });
export const unitUnion = Type.Object({ Ip: Type.String(), ...listed, ...extra, ...address });

export function unitToWire(unit: Unit) {
  return {
    Ip: unit.address?.host ?? '',
    Name: unitName(unit),
    State: unit.state,
    ID: unit.id,
    AppName: unit.app,
    ProcessName: unit.process,
    Status: unit.state,
    ...(unit.address !== null && { Address: { Scheme: 'http', Host: hostPort(unit.address) } }),
  };
}
