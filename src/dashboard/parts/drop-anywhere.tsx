/** What is dropped anywhere on a screen of an app is deployed to it, as in its drop zone. */
import { useEffect, useState } from 'preact/hooks';
import { entriesOf, uploadOfEntries } from '../data/dropped.ts';
import { deployUpload } from './drop-zone.tsx';
import { Icon } from './icon.tsx';
import { runTask } from './tasks.tsx';

export function DropAnywhere({ app }: { app: string }) {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const over = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      if (event.dataTransfer !== null) event.dataTransfer.dropEffect = 'copy';
      setOver(true);
    };
    const left = (event: DragEvent): void => {
      // Out of the window; what is only another part of the page has one.
      if (event.relatedTarget === null) setOver(false);
    };
    const dropped = (event: DragEvent): void => {
      setOver(false);
      // The zone has drawn itself anew by now, without what it was dropped on.
      const isTaken = event.composedPath().some((part) => part instanceof Element && part.matches('.drop'));
      if (isTaken || !hasFiles(event) || event.dataTransfer === null) return;
      event.preventDefault();
      const entries = entriesOf(event.dataTransfer);
      void runTask(`Deploy to ${app}`, async (said) => {
        said('Reading the files');
        await deployUpload(app, await uploadOfEntries(entries), () => undefined);
      });
    };
    addEventListener('dragover', over);
    addEventListener('dragleave', left);
    addEventListener('drop', dropped);
    return () => {
      removeEventListener('dragover', over);
      removeEventListener('dragleave', left);
      removeEventListener('drop', dropped);
    };
  }, [app]);
  if (!isOver) return null;
  return (
    <div class="drop-here" role="status">
      <p>
        <Icon name="deploys" /> Drop a folder or a .tar.gz to deploy it to <strong>{app}</strong>
      </p>
    </div>
  );
}

function hasFiles({ dataTransfer }: DragEvent): boolean {
  return dataTransfer?.types.includes('Files') === true;
}
