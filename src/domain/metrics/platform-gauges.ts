/** Pure: what is known of the platform itself in the text format of Prometheus. */
import { type Deploy, DEPLOY_STATES, FINISHED } from '../deploys/deploy.ts';
import type { DiskSpace } from '../diagnosis/probe.ts';

interface PlatformNow {
  /** Null: it is not known; then there are no lines of it. */
  readonly disk: DiskSpace | null;
  readonly reserveBytes: number;
  readonly unfinished: readonly Pick<Deploy, 'state'>[];
  /** Rows of the audit log. */
  readonly auditRows: number;
  readonly storeBytes: number;
}

export function platformText({ disk, reserveBytes, unfinished, auditRows, storeBytes }: PlatformNow): string {
  const under = DEPLOY_STATES.filter((state) => !FINISHED.has(state)).map(
    (state) => [`{state="${state}"}`, unfinished.filter((deploy) => deploy.state === state).length] as const,
  );
  const gauges: readonly (readonly [name: string, help: string, values: readonly (readonly [string, number])[]])[] = [
    ['tancho_deploys_unfinished', 'Deploys that wait or go on.', under],
    ['tancho_audit_rows', 'Rows of the audit log.', [['', auditRows]]],
    ['tancho_store_bytes', 'What the database takes.', [['', storeBytes]]],
    ...(disk === null
      ? []
      : ([
          ['tancho_disk_free_bytes', 'Free space where the platform keeps everything.', [['', disk.freeBytes]]],
          ['tancho_disk_total_bytes', 'Size of that file system.', [['', disk.totalBytes]]],
          ['tancho_disk_reserve_bytes', 'With less free space no new code is taken.', [['', reserveBytes]]],
          ['tancho_disk_free_files', 'Files that can still be made there.', [['', disk.freeFiles]]],
          ['tancho_disk_total_files', 'Files that can be in it.', [['', disk.totalFiles]]],
        ] as const)),
  ];
  const lines = gauges.flatMap(([name, help, values]) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} gauge`,
    ...values.map(([labels, value]) => `${name}${labels} ${value}`),
  ]);
  return `${lines.join('\n')}\n`;
}
