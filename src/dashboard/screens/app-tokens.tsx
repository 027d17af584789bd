import { useState } from 'preact/hooks';
import { call } from '../api/call.ts';
import { useResource } from '../data/resource.ts';
import { ActButton } from '../parts/act-button.tsx';
import { Card, Copyable, Loaded, Note, Time } from '../parts/content.tsx';
import { attempt } from '../parts/toasts.tsx';
import { Table } from '../parts/table.tsx';

/** With which programs deploy to the app and read its log. */
export function AppTokens({ app }: { app: string }) {
  const tokens = useResource(`tokens ${app}`, (signal) => call('GET /apps/{app}/tokens', { params: { app }, signal }));
  const [created, setCreated] = useState('');
  const create = (): Promise<boolean> =>
    attempt(async () => {
      const { Token: token } = await call('POST /tokens', { body: { client: app } });
      setCreated(token);
      await tokens.refresh();
    });
  return (
    <Card
      title="Tokens of the app"
      isPlain
      actions={
        <button type="button" class="button little" onClick={() => void create()}>
          New token
        </button>
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
