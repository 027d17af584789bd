/** What the API refuses before any use case sees it goes into the audit trail, too: who asked for what, and why it was refused. */
import type { IncomingMessage } from 'node:http';
import type { RefusalLog } from '../domain/audit/audit.ts';
import type { Call } from './call.ts';
import { changes, type Operation } from './operation.ts';
import { paramsOf } from './routes.ts';

/** Looks are not recorded, but for those into a shell, and of edges: they are handed the keys of all certificates. */
const LOOKS: readonly Operation['answer'][] = ['shell', 'edge'];

export function recordRefusals(call: Call, request: IncomingMessage, audit: RefusalLog): void {
  call.onFailure = (thrown) => {
    const { route, caller } = call;
    if (route === null || !(changes(route.operation) || LOOKS.includes(route.operation.answer))) return;
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const named = Object.entries(paramsOf(route, path.replace(/\/$/, '').split('/')) ?? {});
    const [kind, name] = named.find(([param]) => param === 'app') ?? named[0] ?? ['', ''];
    const target = kind === '' ? '' : `${kind === 'email' ? 'user' : kind}:${name}`;
    audit.refused({ caller, action: route.operation.id, target, detail: `${request.method} ${path}` }, thrown);
  };
}
