import { useState } from 'preact/hooks';
import { type AnswerOf } from '../api/operations.ts';
import { call } from '../api/call.ts';
import { viewer } from '../api/session.ts';
import { useResource } from '../data/resource.ts';
import { ActButton } from '../parts/act-button.tsx';
import { Card, Empty, Head, Loaded, Time } from '../parts/content.tsx';
import { Status } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';

type Report = AnswerOf<'POST /healers/{healer}'>;

export default function Healers() {
  const healers = useResource('healers', (signal) => call('GET /healers', { signal }), 30_000);
  const [report, setReport] = useState<Report | null>(null);
  return (
    <>
      <Head title="Healers" />
      <Card isPlain>
        <Loaded from={healers}>
          {(list) => (
            <Table
              label="Healers"
              columns={['Name']}
              rows={list
                .flatMap((one) => Object.keys(one))
                .map((healer) => ({
                  key: healer,
                  cells: [healer],
                  actions: (
                    <ActButton
                      work={async () => setReport(await call('POST /healers/{healer}', { params: { healer } }))}
                      done={`${healer} has looked.`}
                      label={`Run now: ${healer}`}
                    >
                      Run now
                    </ActButton>
                  ),
                }))}
            />
          )}
        </Loaded>
      </Card>
      {report !== null && <ReportCard report={report} />}
      {viewer().isAdmin && <Lately />}
    </>
  );
}

function ReportCard({ report }: { report: Report }) {
  return (
    <Card title={`What ${report.healer} saw`} isPlain>
      {report.found.length === 0 ? (
        <Empty title={report.answer ?? 'Everything is in order'} icon="done" />
      ) : (
        <Table
          label="What was found"
          columns={['Where', 'What is wrong', 'Outcome', 'Done']}
          rows={report.found.map((one) => ({
            key: `${one.target} ${one.problem}`,
            cells: [one.target, one.problem, <Status state={one.outcome} />, one.action],
          }))}
        />
      )}
    </Card>
  );
}

function Lately() {
  const recent = useResource('healings', (signal) => call('GET /docker/healing', { signal }), 15_000);
  return (
    <Card title="Lately" isPlain>
      <Loaded from={recent}>
        {(list) =>
          list.length === 0 ? (
            <Empty title="Nothing had to be healed" icon="healers" />
          ) : (
            <Table
              label="What was healed lately"
              columns={['When', 'What', 'Outcome']}
              rows={list.map((one) => ({
                key: one.ID,
                cells: [
                  <Time at={one.StartTime} />,
                  one.Reason,
                  one.Successful ? <Status state="healed" /> : <Status state="failed" label={one.Error} />,
                ],
              }))}
            />
          )
        }
      </Loaded>
    </Card>
  );
}
