/**
 * Pure: which argv becomes root among users of its own, as programs need that put root file systems together. It is the tenant to the
 * machine, in a user namespace whose map is written from outside; what the tenant cannot reach by itself is put before it first.
 */
import { join } from 'node:path';
import {
  asUser,
  assigned,
  bindArguments,
  type BubblewrapFacts,
  descriptors,
  KEPT_CAPABILITIES,
  marked,
  namespaces,
  type LaunchPlan,
  required,
  splitEnvironment,
  systemArguments,
  TMPFS_BYTES,
  WITHIN_REACH,
} from './plan.ts';
import type { SandboxRequest } from './sandbox.ts';

/** Nobody else's on the machine: far above people, services, tenants and what is usually given to containers. */
const FIRST_USER = 1_900_000_000;
/** As many as programs for containers expect. */
const USERS = 65_536;

/** For /proc/<pid>/uid_map: root is the tenant, the others are nobody in particular. */
export function userMap(tenant: number): string {
  return `0 ${tenant} 1\n1 ${FIRST_USER} ${USERS - 1}\n`;
}

/** `uidMap`: of this process itself, lines of inside, outside, count. */
export function hasUserRange(uidMap: string): boolean {
  const maps = uidMap.trim().split('\n');
  return maps.some((line) => {
    const [inside = 0, , count = 0] = line.trim().split(/\s+/).map(Number);
    return inside <= FIRST_USER && FIRST_USER + USERS <= inside + count;
  });
}

export function planManyUsers(request: SandboxRequest, { programs, system, uid, fds }: BubblewrapFacts): LaunchPlan {
  if (uid === null) throw new Error("Users of one's own are for tenants.");
  const near = request.binds.map((bind, index) => ({
    ...bind,
    path: join(WITHIN_REACH, `${index}`),
    at: bind.at ?? bind.path,
  }));
  const { early, late } = splitEnvironment(request.env);
  const inner = [required(programs.bwrap), ...namespaces(request)];
  inner.push('--unshare-user', '--uid', '0', '--gid', '0', '--userns-block-fd', `${fds.users}`, '--cap-add', 'ALL');
  inner.push('--proc', '/proc', '--dev', '/dev', '--perms', '0555', '--dir', '/sys');
  for (const path of ['/tmp', '/var/tmp', '/run', '/dev/shm']) {
    inner.push('--perms', '1777', '--size', `${TMPFS_BYTES}`, '--tmpfs', path);
  }
  inner.push(
    ...systemArguments(system, fds.accounts),
    ...bindArguments(near),
    '--chdir',
    request.cwd,
    ...assigned(late),
  );
  // No filter: what runs here makes mounts and namespaces.
  inner.push(...descriptors({ ...fds, filter: null }), '--', ...request.argv);
  const { argv, env } = asUser({ ...request, argv: inner, env: early }, programs, uid);
  const moved = request.binds.map(({ path, writable }, index) => ({ path, writable, at: near[index]?.path ?? path }));
  const args = [...systemArguments(system), '--bind', '/proc', '/proc', '--dev-bind', '/dev', '/dev'];
  args.push('--perms', '0755', '--dir', '/tmp', ...bindArguments(moved), ...KEPT_CAPABILITIES, '--chdir', '/');
  if (request.dieWithParent) args.push('--die-with-parent');
  return { file: required(programs.bwrap), args: [...args, '--', ...argv], env: marked(env, request.id) };
}
