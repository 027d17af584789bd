import type { StoreWriter } from '../store.ts';
import { announce } from '../webhooks/occurrence.ts';
import { describeExit, type Unit, type UnitExit, unitName } from './unit.ts';

/** In the transaction that notes it. Its last lines stay here: they are the app's. */
export async function announceDeath(tx: StoreWriter, unit: Unit, exit: UnitExit): Promise<void> {
  const { app, process, exits, release } = unit;
  const message = `${process} ${unitName(unit)} of ${app} ${describeExit(exit)}; it is started again.`;
  const facts = { unit: unitName(unit), process, release, exits };
  await announce(tx, { kind: 'unit.died', app, message, facts }, exit.at);
}
