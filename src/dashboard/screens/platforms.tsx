import { call } from '../api/call.ts';
import { useResource } from '../data/resource.ts';
import { Card, Head, Loaded } from '../parts/content.tsx';
import { Status } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';

export default function Platforms() {
  const platforms = useResource('platforms', (signal) => call('GET /platforms', { signal }), 30_000);
  return (
    <>
      <Head title="Platforms" />
      <Card isPlain>
        <Loaded from={platforms}>
          {(list) => (
            <Table
              label="Platforms"
              columns={['Name', 'What it runs', 'State', 'Tools']}
              rows={list.map((platform) => ({
                key: platform.Name,
                cells: [
                  platform.Added ? `${platform.Name} (added here)` : platform.Name,
                  platform.Description,
                  platform.Disabled ? (
                    <Status state="disabled" mood="idle" />
                  ) : platform.Ready ? (
                    <Status state="ready" />
                  ) : (
                    <Status state="missing" label={`missing: ${platform.Missing.join(' ')}`} mood="bad" />
                  ),
                  platform.Tools.join(', '),
                ],
              }))}
            />
          )}
        </Loaded>
      </Card>
      <p class="muted small">
        <code>tancho platform add</code> adds one of your own.
      </p>
    </>
  );
}
