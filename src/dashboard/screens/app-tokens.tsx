import { useState } from 'preact/hooks';
import { call } from '../api/call.ts';
import { useResource } from '../data/resource.ts';
import { ActButton } from '../parts/act-button.tsx';
import { Card, Copyable, Loaded, Note, Time } from '../parts/content.tsx';
import { Table } from '../parts/table.tsx';

/** With which programs deploy to the app and read its log. */
export function AppTokens({ app }: { app: string }) {
  const tokens = useResource(`tokens ${app}`, (signal) => call('GET /apps/{app}/tokens', { params: { app }, signal }));
  const [created, setCreated] = useState('');
  const create = async (): Promise<void> => setCreated((await call('POST /tokens', { body: { client: app } })).Token);
  return (
    <Card
      title="Tokens of the app"
      isPlain
      actions={
        <ActButton work={create} onDone={() => tokens.refresh()}>
          New token
        </ActButton>
      }
    >
      {created !== '' && (
        <div class="body-like">
          <Note mood="good">
            <strong>The new token is shown only now.</strong>
            <Copyable text={created} label="Copy the token" />
          </Note>
        </div>
      )}
      <Loaded from={tokens}>
        {(list) => (
          <Table
            label="Tokens of the app"
            columns={['Token', 'Made', 'By', 'Ends']}
            rows={list.map((token) => ({
              key: token.Id,
              cells: [
                <code>{token.Id.slice(0, 12)}</code>,
                <Time at={token.CreatedAt} />,
                token.CreatedBy,
                token.ExpiresAt.slice(0, 10),
              ],
              actions: (
                <ActButton
                  work={() => call('DELETE /apps/{app}/tokens/{token}', { params: { app, token: token.Id } })}
                  done="The token has ended."
                  label={`Revoke the token ${token.Id.slice(0, 12)}`}
                  question={{
                    title: 'Revoke this token?',
                    text: 'Programs that use it are refused from now on.',
                    action: 'Revoke',
                    isDangerous: true,
                  }}
                  onDone={() => tokens.refresh()}
                >
                  Revoke
                </ActButton>
              ),
            }))}
          />
        )}
      </Loaded>
    </Card>
  );
}
