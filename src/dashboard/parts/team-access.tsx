/** Which teams have access to something; one more, one less. */
import { ActButton } from './act-button.tsx';
import { Card } from './content.tsx';
import { Field } from './form.tsx';
import { FormDialog } from './form-dialog.tsx';
import { Table } from './table.tsx';

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
      actions={
        <FormDialog
          title="Give a team access"
          action="Give access"
          done="That team has access now."
          onDone={changed}
          onSubmit={({ team = '' }) => give(team.trim())}
        >
          <Field label="Team" name="team" required />
        </FormDialog>
      }
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
