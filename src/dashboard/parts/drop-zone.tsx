/** Deploys the folder or archive that is dropped here, and leads to the deploy as soon as the platform has it. */
import { useRef, useState } from 'preact/hooks';
import { call } from '../api/call.ts';
import { viewer } from '../api/session.ts';
import { sendArchive } from '../api/upload.ts';
import { entriesOf, type DroppedFiles, uploadOfEntries, uploadOfFiles } from '../data/dropped.ts';
import { uploaded } from '../data/deploy-state.ts';
import { bytes, plural } from '../data/format.ts';
import { at, navigate, path } from '../routing/location.ts';
import { notify, notifyProblem } from './toasts.tsx';

const LOOK_MS = 500;
/** As many may begin between two looks. */
const NEWEST = 20;

export function DropZone({ app }: { app: string }) {
  const [isOver, setOver] = useState(false);
  const [state, setState] = useState('');
  const folder = useRef<HTMLInputElement>(null);
  const archive = useRef<HTMLInputElement>(null);
  const deploy = async (make: () => Promise<DroppedFiles>): Promise<void> => {
    setState('Reading the files …');
    try {
      await deployUpload(app, await make(), setState);
    } catch (thrown) {
      notifyProblem(thrown);
    } finally {
      setState('');
    }
  };
  const chosen = (input: HTMLInputElement): void => {
    const files = [...(input.files ?? [])];
    input.value = '';
    void deploy(() => uploadOfFiles(files));
  };
  return (
    <div
      class={`drop ${isOver ? 'over' : ''}`}
      role="group"
      aria-label="Deploy a folder or an archive"
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        const entries = event.dataTransfer === null ? [] : entriesOf(event.dataTransfer);
        void deploy(() => uploadOfEntries(entries));
      }}
    >
      {state !== '' ? (
        <p class="row" role="status">
          <span class="spinner" aria-hidden="true" /> {state}
        </p>
      ) : (
        <>
          <p>
            <strong>Drop a folder or a .tar.gz here to deploy it</strong>
          </p>
          <div class="row">
            <button type="button" class="button little" onClick={() => folder.current?.click()}>
              Choose a folder
            </button>
            <button type="button" class="button little" onClick={() => archive.current?.click()}>
              Choose an archive
            </button>
          </div>
          <p class="muted small">Left out: .git, node_modules, virtual environments, caches.</p>
        </>
      )}
      <input
        ref={folder}
        type="file"
        hidden
        aria-label="Folder"
        {...{ webkitdirectory: true }}
        onChange={(event) => chosen(event.currentTarget)}
      />
      <input
        ref={archive}
        type="file"
        hidden
        aria-label="Archive"
        accept=".tar,.tgz,.gz"
        onChange={(event) => chosen(event.currentTarget)}
      />
    </div>
  );
}

/** Resolves when the platform has it as a deploy, which is shown then; throws Problem. */
export async function deployUpload(app: string, upload: DroppedFiles, say: (state: string) => void): Promise<void> {
  const newest = () => call('GET /deploys', { query: { app, limit: NEWEST } });
  const before = new Set((await newest()).map(({ ID }) => ID));
  const { size } = upload.body;
  const what = upload.files === 0 ? upload.name : `${plural(upload.files, 'file')} of ${upload.name}`;
  let failed: unknown;
  let isOver = false;
  sendArchive(app, upload.body, (sent) =>
    say(`Sending ${what}: ${bytes(Math.min(sent, size))} of ${bytes(size)}`),
  ).ended.then(
    () => (isOver = true),
    (thrown: unknown) => {
      failed = thrown;
      isOver = true;
    },
  );
  for (;;) {
    const wasOver = isOver;
    const newer = await newest().catch((thrown: unknown) => {
      // While it is being sent it is only asked again.
      if (wasOver) throw failed ?? thrown;
      return [];
    });
    const own = uploaded(newer, before, viewer().email);
    if (own !== undefined) return show(app, own.ID);
    // Refused before it became a deploy.
    if (wasOver && failed !== undefined) throw failed;
    if (wasOver) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** Whoever has gone elsewhere stays there. */
function show(app: string, id: string): void {
  if (`${path.value}/`.startsWith(`${at('apps', app)}/`)) navigate(at('apps', app, 'deploys', id));
  else notify(`${app} is being deployed.`);
}
