/** Sends an archive and says how far it is, which fetch() cannot. The deploy goes on when the page is left. */
import { counted } from '../data/at-work.ts';
import { problemOfText, lost, type Problem } from './problem.ts';

interface Sending {
  /** Resolves when the deploy has ended well; rejects with a Problem. */
  readonly ended: Promise<void>;
}

export function sendArchive(app: string, body: Blob, progress: (sentBytes: number) => void): Sending {
  const request = new XMLHttpRequest();
  const ended = new Promise<void>((resolve, reject: (problem: Problem) => void) => {
    request.upload.addEventListener('progress', ({ loaded }) => progress(loaded));
    request.addEventListener('error', () => reject(lost()));
    request.addEventListener('load', () => {
      const { status } = request;
      if (status < 400) resolve();
      else reject(problemOfText(request.responseText, status, request.getResponseHeader('x-request-id') ?? ''));
    });
  });
  request.open('POST', `/dashboard/api/apps/${encodeURIComponent(app)}/deploy?origin=drag-and-drop`);
  request.setRequestHeader('content-type', 'application/gzip');
  request.setRequestHeader('x-tancho-dashboard', '1');
  // Who takes anything is answered with the status of the end, and the deploy does not end with the page.
  request.setRequestHeader('accept', '*/*');
  request.send(body);
  return { ended: counted(ended) };
}
