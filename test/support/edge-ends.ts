/** Both ends of the connection of an edge elsewhere, in this process; the edge behind it is a router in memory. */
import type { EdgeCarrier } from '../../src/domain/edges/edge-line.ts';

/** An Error is a refusal. */
type Answer = (request: { readonly op: string; readonly [field: string]: unknown }) => unknown;

function replyOf(answer: unknown): object {
  return answer instanceof Error ? { error: answer.message } : { result: answer ?? null };
}

export class EdgeEnd {
  readonly carrier: EdgeCarrier;
  /** What was asked, in order. */
  readonly asked: string[] = [];
  /** Why the server has ended it; '' if it has not. */
  reason = '';
  /** It answers nothing any more. */
  isStopped = false;
  #end: (hasLeft: boolean) => void = () => {};
  #listener: (text: string) => void = () => {};

  constructor(answer: Answer) {
    this.carrier = {
      send: (text) => {
        const request = JSON.parse(text) as { id: number; op: string };
        this.asked.push(request.op);
        queueMicrotask(() => {
          if (!this.isStopped) this.#listener(JSON.stringify({ id: request.id, ...replyOf(answer(request)) }));
        });
      },
      onText: (listener) => (this.#listener = listener),
      ended: new Promise((resolve) => (this.#end = resolve)),
      end: (reason) => {
        this.reason ||= reason;
        this.#end(false);
      },
    };
  }

  lose(): void {
    this.#end(false);
  }

  leave(): void {
    this.#end(true);
  }
}
