/** What a change does to what runs of an app, said before it is sent. */
import { call } from '../api/call.ts';
import { restartText } from '../data/restart-text.ts';
import { useResource } from '../data/resource.ts';

export function Restarts({ app: name, isLater = false }: { app: string; isLater?: boolean }) {
  const params = { app: name };
  const found = useResource(`restarts ${name}`, async (signal) => {
    const [app, volumes] = await Promise.all([
      call('GET /apps/{app}', { params, signal }),
      call('GET /apps/{app}/volumes', { params, signal }),
    ]);
    return { app, volumes };
  });
  const known = found.data.value;
  if (known !== undefined) return <>{restartText(known.app, known.volumes, isLater)}</>;
  return <>{found.problem.value?.message ?? 'Looking what it restarts …'}</>;
}
