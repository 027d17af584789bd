/** docs/access.md, made from the table of access.ts. */
import { type Action, describeRule, RULES } from './access.ts';

const HEAD = `# Who may do what

Made from the one table that every door asks, \`src/domain/access.ts\`; what is not in it is refused. Each row is an action as the
record of events names it. [api.md](api.md) says which operations there are and what they answer to those who may not.

Callers are anonymous, a user (by a session, an API key, an SSH key or a password for git), an admin, the token of one app, or
the platform itself, which may do everything that an admin may. Whoever uses the server's own socket is its first admin.

| Action | Who may |
| ------ | ------- |
`;

export function accessDocs(): string {
  const actions = Object.keys(RULES) as Action[];
  const rows = actions.sort().map((action) => `| \`${action}\` | ${describeRule(action)} |`);
  return `${HEAD}${rows.join('\n')}\n`;
}
