import type { Team } from './team.ts';

/** What must be remembered about teams. Readers answer null for what is missing. */
export interface TeamReader {
  team(name: string): Promise<Team | null>;
  /** Sorted by name: all, or those that a user belongs to. */
  teams(member?: string): Promise<Team[]>;
  /** Names of the teams a user belongs to, sorted. */
  teamsOf(email: string): Promise<string[]>;
}

export interface TeamWriter {
  /** Throws PlatformError `team.name_taken`. Members are those of the record. */
  insertTeam(team: Team): Promise<void>;
  deleteTeam(name: string): Promise<void>;
  /** Throws PlatformError `team.member_exists`. */
  addMember(team: string, email: string): Promise<void>;
  /** True when the user was a member. */
  removeMember(team: string, email: string): Promise<boolean>;
}
