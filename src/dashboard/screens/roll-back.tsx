import { perform } from '../api/call.ts';
import type { Deploy } from '../api/operations.ts';
import { ActButton } from '../parts/act-button.tsx';
import { Icon } from '../parts/icon.tsx';
import { Restarts } from '../parts/restarts.tsx';

/** Nothing for what cannot be gone back to. */
export function RollBack({
  deploy,
  done,
}: {
  deploy: Pick<Deploy, 'App' | 'CanRollback' | 'Image' | 'Release'>;
  done: () => void;
}) {
  if (!deploy.CanRollback) return null;
  const { App: app, Image: image, Release: release } = deploy;
  return (
    <ActButton
      task={`Roll ${app} back to v${release}`}
      work={(said) => perform('POST /apps/{app}/deploy/rollback', said, { params: { app }, body: { image } })}
      label={`Roll back to v${release}`}
      question={{
        title: `Roll ${app} back to v${release}?`,
        text: (
          <>
            A new version equal to that one is started, with its code, environment and processes. <Restarts app={app} />
          </>
        ),
        action: 'Roll back',
      }}
      onDone={done}
    >
      <Icon name="back" /> Roll back
    </ActButton>
  );
}
