/** Which teams have access to something; one more, one less. */
import { ActButton } from './act-button.tsx';
import { Card } from './content.tsx';
import { Table } from './table.tsx';
import { GiveTeam } from './team-forms.tsx';

interface TeamAccessProps {
  readonly teams: readonly string[];
  readonly owner: string;
  /** What it means for a team that it is taken away. */
  readonly loss: string;
  readonly give: (team: string) => Promise<unknown>;
  readonly take: (team: string) => Promise<unknown>;
  readonly changed: () => unknown;
}

export function TeamAccess({ teams, owner, loss, give, take, changed }: TeamAccessProps) {
  return (
    <Card
      title="Teams with access"
      isPlain
      actions={<GiveTeam done="That team has access now." change={give} changed={changed} />}
    >
      <Table
        label="Teams with access"
        columns={['Team']}
        rows={teams.map((team) => ({
          key: team,
          cells: [team === owner ? `${team} (owner)` : team],
          ...(team !== owner && {
            actions: (
              <ActButton
                work={() => take(team)}
                done={`${team} has no access any more.`}
                label={`Take away the access of ${team}`}
                question={{
                  title: `Take the access of ${team} away?`,
                  text: loss,
                  action: 'Take away',
                  isDangerous: true,
                }}
                onDone={changed}
              >
                Take away
              </ActButton>
            ),
          }),
        }))}
      />
    </Card>
  );
}
