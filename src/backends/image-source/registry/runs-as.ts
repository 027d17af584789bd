/**
 * Who an image's processes are. On this machine they are always the app's own user, who owns every file of the image; what is
 * found here is only as whom they see themselves.
 */
import { ORDINARY_USER } from '../../../domain/artifacts/slug.ts';
import { unfit } from './failures.ts';
import type { RootTree } from './root-tree.ts';

export interface RunsAs {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
}

interface Entry {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
}

const MAX_ID = 2_147_483_647;
const MAX_FILE_BYTES = 1024 * 1024;
/** No path is longer. */
const MAX_HOME = 4_096;
const PASSWD = ['etc', 'passwd'];
const GROUP = ['etc', 'group'];

/** Adds the user and its group to the image's files of them where these have none of the number. Throws Failure `invalid_source`. */
export async function runsAs(tree: RootTree, wanted: string): Promise<RunsAs> {
  const entries = passwdEntries((await tree.read(PASSWD, MAX_FILE_BYTES)) ?? '');
  const [, name = '', group] = /^([^:]*)(?::(.*))?$/s.exec(wanted.trim()) ?? [];
  const number = numberOf(name);
  const entry = entries.find((one) => (number === null ? one.name === name : one.uid === number));
  if (name !== '' && number === null && entry === undefined) {
    const hint = 'Name its USER by number, or add it to the image.';
    throw unfit(`its user ${JSON.stringify(name.slice(0, 100))} is not in its /etc/passwd.`, hint);
  }
  const uid = number ?? entry?.uid ?? 0;
  const home = await existing(tree, entry?.home ?? (uid === 0 ? '/root' : '/'));
  if (uid === 0) return known(tree, entries, { uid: ORDINARY_USER, gid: ORDINARY_USER, home });
  const gid = group === undefined || group === '' ? (entry?.gid ?? uid) : await groupId(tree, group);
  return known(tree, entries, { uid, gid, home });
}

async function known(
  tree: RootTree,
  entries: readonly Entry[],
  user: Pick<RunsAs, 'uid' | 'gid' | 'home'>,
): Promise<RunsAs> {
  const { uid, gid, home } = user;
  await groupKnown(tree, gid);
  const entry = entries.find((one) => one.uid === uid);
  if (entry !== undefined) return { ...user, name: entry.name };
  const name = free('app', uid, entries);
  await addLine(tree, PASSWD, `${name}:x:${uid}:${gid}::${/[:\n]/.test(home) ? '/' : home}:/bin/sh`);
  return { ...user, name };
}

async function groupKnown(tree: RootTree, gid: number): Promise<void> {
  const groups = await groupsOf(tree);
  if (!groups.some((group) => group.gid === gid)) await addLine(tree, GROUP, `${free('app', gid, groups)}:x:${gid}:`);
}

function free(name: string, id: number, taken: readonly { readonly name: string }[]): string {
  return taken.some((one) => one.name === name) ? `${name}${id}` : name;
}

async function addLine(tree: RootTree, path: string[], line: string): Promise<void> {
  const text = (await tree.read(path, MAX_FILE_BYTES)) ?? '';
  await tree.append(path, `${text === '' || text.endsWith('\n') ? '' : '\n'}${line}\n`);
}

async function existing(tree: RootTree, home: string): Promise<string> {
  if (!home.startsWith('/') || home.length > MAX_HOME) return '/';
  const found = await tree.locate(home.split('/'));
  return found?.facts.isDirectory() === true ? home : '/';
}

async function groupId(tree: RootTree, group: string): Promise<number> {
  const number = numberOf(group);
  if (number !== null) return number;
  const found = (await groupsOf(tree)).find(({ name }) => name === group);
  if (found !== undefined) return found.gid;
  throw unfit(`its group ${JSON.stringify(group.slice(0, 100))} is not in its /etc/group.`);
}

async function groupsOf(tree: RootTree): Promise<{ name: string; gid: number }[]> {
  const text = (await tree.read(GROUP, MAX_FILE_BYTES)) ?? '';
  return text.split('\n').flatMap((line) => {
    const [name = '', , number = ''] = line.split(':');
    const gid = numberOf(number);
    return gid === null || name === '' ? [] : [{ name, gid }];
  });
}

function passwdEntries(text: string): Entry[] {
  return text.split('\n').flatMap((line) => {
    const [name = '', , uid = '', gid = '', , home = ''] = line.split(':');
    const [user, group] = [numberOf(uid), numberOf(gid)];
    return user === null || group === null || name === '' ? [] : [{ name, uid: user, gid: group, home }];
  });
}

/** Null for what is no number, or none that a user may have. */
function numberOf(text: string): number | null {
  return /^\d{1,10}$/.test(text) && Number(text) <= MAX_ID ? Number(text) : null;
}
