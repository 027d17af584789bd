/** Use cases of teams (specification 4.8). */
import type { Caller } from '../caller.ts';
import type { Team } from './team.ts';

export interface Teams {
  /** The caller's teams; an admin sees all. */
  list(caller: Caller): Promise<Team[]>;
  info(caller: Caller, name: string): Promise<Team>;
  /** The creator becomes its first member. */
  create(caller: Caller, name: unknown): Promise<Team>;
  /** Refused with team.in_use while apps belong to it. */
  remove(caller: Caller, name: string): Promise<void>;
  addMember(caller: Caller, team: string, email: string): Promise<void>;
  /** The last member cannot go (team.last_member). */
  removeMember(caller: Caller, team: string, email: string): Promise<void>;
}
