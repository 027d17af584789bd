import { useRef } from 'preact/hooks';
import { call } from '../api/call.ts';
import { Problem, problemOf } from '../api/problem.ts';
import { viewer } from '../api/session.ts';
import { useResource } from '../data/resource.ts';
import { Card, Head, Loaded, Note } from '../parts/content.tsx';
import { Choice, Field, Form } from '../parts/form.tsx';
import { at, BASE, navigate } from '../routing/location.ts';

/** What has to be known to make a new app. */
async function choices(signal: AbortSignal) {
  const [teams, pools, plans] = await Promise.all([
    call('GET /teams', { signal }),
    call('GET /1.0/pools', { signal }),
    call('GET /plans', { signal }),
  ]);
  return { teams, pools, plans };
}

async function makeTeam(name: string): Promise<void> {
  try {
    await call('POST /teams', { body: { name } });
  } catch (thrown) {
    const problem = problemOf(thrown);
    throw new Problem(problem.message, { ...problem, field: 'newTeam' });
  }
}

/** Hardly anybody else has one of that name. */
function ownTeam(): string {
  return /^[a-z][-_.+\w]+(?=@)/i.exec(viewer().email)?.[0] ?? '';
}

const NEVER_MS = 60_000;

export default function NewApp() {
  const found = useResource('choices', choices, NEVER_MS);
  // Its tools are tried when somebody first asks, and nobody has to choose one.
  const known = useResource('platforms', (signal) => call('GET /platforms', { signal }), NEVER_MS);
  const platforms = (known.data.value ?? []).filter(({ Disabled }) => !Disabled);
  // It stays where the app is refused, which is then sent again.
  const made = useRef('');
  const create = async (values: Record<string, string>): Promise<void> => {
    const { name = '', description = '', platform = '', team = '', pool = '', plan = '', newTeam = '' } = values;
    if (newTeam !== '' && newTeam !== made.current) await makeTeam(newTeam);
    made.current = newTeam;
    const teamOwner = newTeam === '' ? team : newTeam;
    await call('POST /apps', {
      body: { name: name.trim(), platform, teamOwner, description, pool, ...(plan !== '' && { plan }) },
    });
    navigate(at('apps', name.trim()));
  };
  return (
    <>
      <Head title="New app" crumbs={<a href={BASE}>Apps</a>} />
      <Loaded from={found}>
        {({ teams, pools, plans }) => (
          <Card>
            <Form action="Create app" onSubmit={create} onCancel={() => navigate('/')}>
              <Field
                label="Name"
                name="name"
                required
                autoFocus
                maxLength={63}
                help="Lower-case letters, digits and dashes; a letter first. It becomes part of the address."
              />
              {teams.length === 0 && (
                <>
                  <Note mood="idle">
                    An app belongs to a team, and you are in none yet. This makes one, with you in it.
                  </Note>
                  <Field label="Name of your team" name="newTeam" required value={ownTeam()} />
                </>
              )}
              <Choice
                label="Platform"
                name="platform"
                help="What the code is written in. Left to the first push, it is read from the files."
                options={[
                  { value: 'auto', label: 'What the first push turns out to be' },
                  ...platforms.map(({ Name, Ready }) => ({
                    value: Name,
                    label: Ready ? Name : `${Name} (something it needs is missing here)`,
                  })),
                ]}
              />
              {teams.length > 1 && (
                <Choice label="Team" name="team" options={teams.map(({ name }) => ({ value: name, label: name }))} />
              )}
              {pools.length > 1 && (
                <Choice
                  label="Pool"
                  name="pool"
                  options={[
                    { value: '', label: 'The default' },
                    ...pools.map(({ Name }) => ({ value: Name, label: Name })),
                  ]}
                />
              )}
              {plans.length > 1 && (
                <Choice
                  label="Plan"
                  name="plan"
                  help="What each unit may use."
                  options={[
                    { value: '', label: 'The default' },
                    ...plans.map(({ name }) => ({ value: name, label: name })),
                  ]}
                />
              )}
              <Field label="Description" name="description" />
            </Form>
          </Card>
        )}
      </Loaded>
    </>
  );
}
