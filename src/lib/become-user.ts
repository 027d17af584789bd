/** Gives up being root for good: the process, all its threads and whatever it starts are that user, in the group of the same number and no other. */
export function becomeUser(user: number | null): void {
  if (user === null || process.geteuid?.() !== 0) return;
  process.setgroups?.([]);
  process.setgid?.(user);
  process.setuid?.(user);
  if (process.geteuid() !== user || process.getegid?.() !== user)
    throw new Error(`the process cannot become user ${user}`);
}
