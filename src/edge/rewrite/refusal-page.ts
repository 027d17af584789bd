import { escapeHtml } from '../../lib/escape-html.ts';
import { ownAnswer } from './own-answer.ts';
import { STATUS_TITLES } from './status-titles.ts';

interface RefusalPage {
  readonly status: number;
  /** One or two sentences for whoever sees the page. */
  readonly detail: string;
  readonly app: string | null;
  readonly requestId: string;
  /** Seconds, or null. */
  readonly retryAfter: number | null;
  /** The request's Accept. */
  readonly accept: string;
  readonly method: string;
  readonly keepAlive: boolean;
  /** The app's own in place of ours; '' and absent: none. */
  readonly html?: string | undefined;
}

/** A whole answer of the edge's own: head and body. It names the app and the request, never an address. */
export function refusalPage(page: RefusalPage): string {
  const title = `${page.status} ${STATUS_TITLES[page.status] ?? 'Error'}`;
  const facts = page.app === null ? [] : [`app: ${page.app}`];
  facts.push(`request: ${page.requestId}`);
  const own = page.html ?? '';
  const html = own !== '' || page.accept.includes('text/html');
  const text = html ? htmlBody(title, page.detail, facts) : `${title}\n${page.detail}\n\n${facts.join('\n')}\n`;
  const body = own === '' ? text : own;
  const type = `${html ? 'text/html' : 'text/plain'}; charset=utf-8`;
  const retryAfter = page.retryAfter === null ? '' : `Retry-After: ${page.retryAfter}\r\n`;
  return ownAnswer({ ...page, type, body, fields: `Cache-Control: no-store\r\n${retryAfter}` });
}

function htmlBody(title: string, detail: string, facts: readonly string[]): string {
  return (
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">' +
    `<title>${title}</title><style>body{font:16px/1.5 system-ui,sans-serif;max-width:36em;margin:15vh auto;` +
    `padding:0 1em}small{color:#666}</style><h1>${title}</h1><p>${escapeHtml(detail)}</p>` +
    `<p><small>${facts.map(escapeHtml).join('<br>')}</small></p></html>\n`
  );
}
