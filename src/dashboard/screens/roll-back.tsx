import { perform } from '../api/call.ts';
import type { Deploy } from '../api/operations.ts';
import { confirm } from '../parts/dialog.tsx';
import { Icon } from '../parts/icon.tsx';
import { runTask } from '../parts/tasks.tsx';

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
  const ask = async (): Promise<void> => {
    const isSure = await confirm({
      title: `Roll ${app} back to v${release}?`,
      text: 'A new version equal to that one is started, with its code, environment and processes. It takes over when it answers; no request fails.',
      action: 'Roll back',
    });
    if (!isSure) return;
    await runTask(`Roll ${app} back to v${release}`, (said) =>
      perform('POST /apps/{app}/deploy/rollback', said, { params: { app }, body: { image } }),
    );
    done();
  };
  return (
    <button type="button" class="button little" onClick={() => void ask()}>
      <Icon name="back" /> Roll back <span class="unseen">to v{release}</span>
    </button>
  );
}
