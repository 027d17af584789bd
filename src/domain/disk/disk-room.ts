/** The reserve of the platform: new code is refused before the disk is so full that databases and apps suffer. */
import { inTime } from '../../lib/deadline.ts';
import type { DiskSpace, MachineProbe } from '../diagnosis/probe.ts';
import { isDiskFull, isPlatformError, PlatformError } from '../errors.ts';
import type { Settings } from '../settings.ts';
import type { DiskHolders } from './disk-holders.ts';

export interface DiskRoomDeps {
  readonly probe: Pick<MachineProbe, 'disk'>;
  readonly settings: Pick<Settings, 'diskReserveBytes'>;
  readonly holders: DiskHolders;
}

/** Of all files that the file system can hold, so many are left to the platform. */
const RESERVED_FILES = 1 / 50;

/** Whether the reserve is touched, of bytes or of files; false where it is not known how much is free. */
export function isLow(space: DiskSpace | null, settings: DiskRoomDeps['settings']): boolean {
  return shortageOf(space, settings) !== null;
}

export interface Shortage {
  readonly of: 'bytes' | 'files';
  /** So much is to stay free. */
  readonly reserve: number;
}

/** Null while the reserve is there, and where it is not known how much is free. */
export function shortageOf(space: DiskSpace | null, { diskReserveBytes }: DiskRoomDeps['settings']): Shortage | null {
  if (space === null || diskReserveBytes === 0) return null;
  if (space.freeBytes < diskReserveBytes) return { of: 'bytes', reserve: diskReserveBytes };
  const reserve = space.totalFiles * RESERVED_FILES;
  return space.freeFiles < reserve ? { of: 'files', reserve } : null;
}

/** To end who holds less than this part of the reserve would help nobody. */
const WORTH_ENDING = 1 / 4;

export function isMuch(held: number, { reserve }: Shortage): boolean {
  return held >= reserve * WORTH_ENDING;
}

/** Half a sentence, of somebody who holds so much of what is short; Infinity: it could not be counted. */
export function shortOf({ of: kind }: Shortage, held: number): string {
  const [short, whole] =
    kind === 'bytes'
      ? ['is nearly full', `written ${Math.ceil(held / 1024 ** 2)} MiB`]
      : ['has room for few more files', `made ${held} files`];
  return `the disk of the server ${short}, and it has ${held === Infinity ? 'written more than can be counted in time' : whole}`;
}

/** Throws `disk.low`. Where it is not known how much is free, there is room. */
export async function demandRoom({ probe, settings, holders }: DiskRoomDeps): Promise<void> {
  const space = await probe.disk();
  if (space === null || !isLow(space, settings)) return;
  const most = await largest(holders, space);
  throw new PlatformError('disk.low', `The disk of the server is nearly full: ${describedSpace(space)}.${most}`, {
    hint: 'Apps and databases go on, but no new code is taken. Ask the operator to make room (tancho server disk shows who holds what), then try again.',
  });
}

/** Throws `unavailable` where so little is free that not even git could take what is pushed. */
export async function demandSome({ probe, holders }: Omit<DiskRoomDeps, 'settings'>): Promise<void> {
  if (await hasNoRoom({ probe })) throw await fullError({ probe, holders });
}

/** In place of what was thrown for lack of room, which says less: who holds most. The failure of a deploy says its cause itself. */
export function explainsFull(deps: Omit<DiskRoomDeps, 'settings'>): (thrown: unknown) => Promise<unknown> {
  return async (thrown) =>
    isDiskFull(thrown) && !isPlatformError(thrown, 'deploy.failed') ? fullError(deps, thrown) : thrown;
}

async function fullError({ probe, holders }: Omit<DiskRoomDeps, 'settings'>, cause?: unknown): Promise<PlatformError> {
  const space = await probe.disk();
  const left = space === null ? '' : `: ${describedSpace(space)}`;
  const message = `The disk of the server is full${left}.${await largest(holders, space)}`;
  return new PlatformError('unavailable', message, {
    cause,
    hint: 'Nothing was changed, and what runs goes on. Ask the operator to make room (tancho server disk shows who holds what), then try again.',
  });
}

const HOLDERS_MS = 5_000;
const NAMED = 3;

/** A sentence, or nothing where it takes too long to count. */
async function largest(holders: DiskHolders, space: DiskSpace | null): Promise<string> {
  const late = (): Error => new Error('it takes too long');
  const all = await inTime(HOLDERS_MS, holders(), late).catch(() => []);
  const named = all.slice(0, NAMED).map(({ kind, app, name, bytes }) => {
    const whose = app === '' ? `${kind}${name === '' ? '' : ` ${name}`}` : `${kind} of ${app}`;
    return `${whose} (${Math.ceil(bytes / 1024 ** 2)} MiB)`;
  });
  if (named.length === 0) return '';
  const own = all.reduce((sum, { bytes }) => sum + bytes, 0);
  const used = space === null ? 0 : space.totalBytes - space.freeBytes;
  if (own * 2 >= used) return ` Most is held by ${named.join(', ')}.`;
  return ` The platform and its apps hold ${Math.ceil(own / 1024 ** 2)} MiB of what is used, others the rest.`;
}

/** With less nothing can be relied on to be stored. */
const FULL_BYTES = 16 * 1024 ** 2;

/** False where it is not known how much is free. */
export function isFull(space: DiskSpace | null): boolean {
  return space !== null && space.freeBytes < FULL_BYTES;
}

export async function hasNoRoom({ probe }: Pick<DiskRoomDeps, 'probe'>): Promise<boolean> {
  return isFull(await probe.disk());
}

/** Below it the logs make room, up to there: they are what grows by itself. */
const SHORT_BYTES = 64 * 1024 ** 2;

/** How many bytes the logs are to give back. */
export async function wantedRoom({ probe }: Pick<DiskRoomDeps, 'probe'>): Promise<number> {
  const space = await probe.disk();
  return space === null ? 0 : Math.max(0, SHORT_BYTES - space.freeBytes);
}

/** Half a sentence. */
export function describedSpace({ freeBytes, totalBytes, freeFiles, totalFiles }: DiskSpace): string {
  const mebibytes = (bytes: number): number => Math.floor(bytes / 1024 ** 2);
  const files = totalFiles === 0 ? '' : `, and room for ${freeFiles} of ${totalFiles} files`;
  return `${mebibytes(freeBytes)} MiB of ${mebibytes(totalBytes)} MiB are free${files}`;
}
