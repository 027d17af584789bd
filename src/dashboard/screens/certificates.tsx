import { useState } from 'preact/hooks';
import { call } from '../api/call.ts';
import type { AnswerOf } from '../api/operations.ts';
import { viewer } from '../api/session.ts';
import { exact } from '../data/format.ts';
import { useResource } from '../data/resource.ts';
import { ActButton } from '../parts/act-button.tsx';
import { Card, Copyable, Empty, Head, Loaded } from '../parts/content.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Area, Field } from '../parts/form.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { RemoveButton } from '../parts/remove-button.tsx';
import { type Mood, Status } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { notify } from '../parts/toasts.tsx';
import { at, BASE } from '../routing/location.ts';

type Certificate = AnswerOf<'GET /certificates'>[number];
type Why = AnswerOf<'GET /certificates/{name}'>;

const MOODS: Readonly<Record<string, Mood>> = { issued: 'good', expired: 'bad', failed: 'bad', unused: 'idle' };

/** Certificates with their causes: what is presented, and how far the next one has come. */
export default function Certificates() {
  const certificates = useResource('certificates', (signal) => call('GET /certificates', { signal }));
  const changed = (): void => void certificates.refresh();
  return (
    <>
      <Head title="Certificates">
        <Upload done={changed} />
      </Head>
      <Card isPlain>
        <Loaded from={certificates}>
          {(list) =>
            list.length === 0 ? (
              <Empty title="No certificate yet" icon="certificates">
                <p>Where TLS is on, each name of an app gets one by itself.</p>
              </Empty>
            ) : (
              <CertificateTable certificates={list} changed={changed} />
            )
          }
        </Loaded>
      </Card>
      <Authority />
    </>
  );
}

function CertificateTable({ certificates, changed }: { certificates: readonly Certificate[]; changed: () => void }) {
  const [why, setWhy] = useState<Why | null>(null);
  return (
    <>
      <Table
        label="Certificates"
        columns={['Names', 'App', 'State', 'Issued by', 'Ends']}
        rows={certificates.map((one) => ({
          key: one.id,
          cells: [
            one.names.join(', '),
            one.app === '' ? 'the platform' : <a href={BASE + at('apps', one.app)}>{one.app}</a>,
            <State certificate={one} />,
            one.source === 'upload' ? `${one.issuer} (uploaded)` : one.issuer,
            one.notAfter === '' ? '' : exact(one.notAfter),
          ],
          actions: <Actions certificate={one} changed={changed} onWhy={setWhy} />,
        }))}
      />
      {why !== null && <WhyDialog why={why} onClose={() => setWhy(null)} />}
    </>
  );
}

function State({ certificate }: { certificate: Certificate }) {
  const { state, presented, problem, nextStep, failures, nextAttemptAt } = certificate;
  const isHidden = state === 'issued' && !presented;
  return (
    <span class="stack dense">
      <span>
        <Status
          state={state}
          label={isHidden ? 'issued, not presented' : state}
          mood={isHidden ? 'idle' : (MOODS[state] ?? 'wait')}
        />
      </span>
      {problem !== '' && <span class="small">{problem}</span>}
      {nextStep !== '' && <span class="small muted">{nextStep}</span>}
      {failures > 0 && nextAttemptAt !== '' && (
        <span class="small muted">
          Failed {failures === 1 ? 'once' : `${failures} times`}; next attempt {exact(nextAttemptAt)}
        </span>
      )}
    </span>
  );
}

interface ActionsProps {
  readonly certificate: Certificate;
  readonly changed: () => void;
  readonly onWhy: (why: Why) => void;
}

function Actions({ certificate: { names, source, id }, changed, onWhy }: ActionsProps) {
  const [name = ''] = names;
  return (
    <>
      <ActButton
        work={async () => onWhy(await call('GET /certificates/{name}', { params: { name } }))}
        done=""
        label={`Look now: ${name}`}
      >
        Look now
      </ActButton>
      {source === 'upload' ? (
        <RemoveButton
          what={`the certificate of ${name}`}
          text="Its names get one from the authority, where that is set up."
          work={() => call('DELETE /certificates/{name}', { params: { name: id } })}
          onDone={changed}
        />
      ) : (
        <ActButton
          work={async () => {
            const { state, problem } = await call('POST /certificates/{name}/renew', { params: { name } });
            if (problem === '') notify(`${name}: ${state}.`);
          }}
          done=""
          label={`Renew the certificate of ${name}`}
          onDone={changed}
        >
          Renew
        </ActButton>
      )}
    </>
  );
}

function WhyDialog({ why, onClose }: { why: Why; onClose: () => void }) {
  return (
    <Dialog title={why.name} isWide onClose={onClose}>
      <div class="stack">
        <p>{why.problem === '' ? 'Nothing is wrong with the certificate of this name.' : why.problem}</p>
        {why.cause !== '' && (
          <p class="muted">
            Cause: <code>{why.cause}</code>
          </p>
        )}
        {why.nextStep !== '' && <p>{why.nextStep}</p>}
      </div>
      <div class="buttons">
        <button type="button" class="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

function Upload({ done }: { done: () => void }) {
  const { isAdmin } = viewer();
  return (
    <FormDialog
      title="Upload a certificate"
      action="Upload"
      done="The certificate is kept, and presented for its names."
      isMain
      onDone={done}
      onSubmit={({ chain = '', key = '', app = '' }) =>
        call('POST /certificates', { body: { chain, key, ...(app.trim() !== '' && { app: app.trim() }) } })
      }
    >
      <Area
        label="Certificate"
        name="chain"
        class="mono"
        required
        placeholder="-----BEGIN CERTIFICATE-----"
        help="PEM, followed by those that it was issued by."
      />
      <Area label="Key" name="key" class="mono" required placeholder="-----BEGIN PRIVATE KEY-----" />
      <Field
        label="App"
        name="app"
        required={!isAdmin}
        help={isAdmin ? 'For the names of one app; empty for every name it has.' : 'Whose names it is for.'}
      />
    </FormDialog>
  );
}

function issuedBy(name: string, isLocal: boolean): string {
  if (name === '') return 'Nobody issues certificates here.';
  return `Certificates are issued by ${isLocal ? 'an authority of this server' : name}.`;
}

function Authority() {
  const authority = useResource('authority', (signal) => call('GET /certificate-authority', { signal }), 30_000);
  return (
    <Card title="Authority">
      <Loaded from={authority}>
        {({ name, local, root, fingerprint, dnsRecord, dnsValue }) => (
          <div class="stack">
            <p>{issuedBy(name, local)}</p>
            {local && (
              <p class="muted">
                Browsers trust it once its root is known to the machine: <code>tancho cert trust</code> says how.
              </p>
            )}
            {fingerprint !== '' && (
              <p class="small">
                Fingerprint of its root: <code class="break">{fingerprint}</code>
              </p>
            )}
            {root !== '' && <Copyable text={root} label="Copy the root certificate" />}
            {dnsRecord !== '' && (
              <>
                <p>This TXT record lets it issue for all apps:</p>
                <Copyable text={`${dnsRecord} TXT ${dnsValue}`} />
              </>
            )}
          </div>
        )}
      </Loaded>
    </Card>
  );
}
