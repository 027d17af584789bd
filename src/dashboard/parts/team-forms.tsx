/** Gives a team access to something, and takes it away. */
import { Choice, Field } from './form.tsx';
import { FormDialog } from './form-dialog.tsx';

interface TeamFormProps {
  /** What it is about, where there are several such buttons. */
  readonly of?: string;
  readonly done: string;
  readonly help?: string;
  readonly change: (team: string) => Promise<unknown>;
  readonly changed: () => unknown;
}

export function GiveTeam({ of, done, help, change, changed }: TeamFormProps) {
  return (
    <FormDialog
      title="Give a team access"
      {...(of !== undefined && { of: `to ${of}` })}
      action="Give access"
      done={done}
      onDone={changed}
      onSubmit={({ team = '' }) => change(team.trim())}
    >
      <Field label="Team" name="team" required {...(help !== undefined && { help })} />
    </FormDialog>
  );
}

/** `teams`: those that have it; absent where it is not known which these are. */
export function TakeTeam({ of, done, teams, change, changed }: TeamFormProps & { teams?: readonly string[] }) {
  return (
    <FormDialog
      title="Take a team's access"
      {...(of !== undefined && { of: `to ${of}` })}
      action="Take away"
      done={done}
      onDone={changed}
      onSubmit={({ team = '' }) => change(team.trim())}
    >
      {teams === undefined ? (
        <Field label="Team" name="team" required />
      ) : (
        <Choice label="Team" name="team" options={teams.map((value) => ({ value, label: value }))} />
      )}
    </FormDialog>
  );
}
