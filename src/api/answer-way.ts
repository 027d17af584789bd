/** How the answer of a long operation is read: line by line while it is at work, or as a whole with the status that its end has. */
import { acceptsStream, prefersText } from './error-body.ts';
import type { Method } from './operation.ts';
import { SOON_MS, UNTIL_THE_END } from './progress-answer.ts';
import type { Variant } from './variants.ts';

export interface AnswerRequest {
  readonly variant: Pick<Variant, 'extensions'>;
  readonly method: string;
  readonly accept: string | undefined;
  /** The path had a version before it, as clients from 1.0 on write it. */
  readonly isVersioned: boolean;
  /** See oldest.ts. */
  readonly isOldest: boolean;
}

interface AnswerWay {
  readonly holdMs: number;
  readonly asText: boolean;
}

/**
 * Only who asks for a stream is sent a status before the work has ended: others look at nothing else. The published variants show
 * no stream, so there it is always the end that counts. `textTo`: methods by which clients ask that read plain text.
 */
export function wayOfProgress(asked: AnswerRequest, textTo: readonly Method[] = []): AnswerWay {
  const isStream = asked.isVersioned || acceptsStream(asked.accept);
  return {
    holdMs: asked.variant.extensions && isStream ? SOON_MS : UNTIL_THE_END,
    asText: !isStream && (asked.isOldest || textTo.some((method) => method === asked.method)),
  };
}

/**
 * A deploy ends in OK or the error for whoever reads it as it comes: those who ask for lines, in whatever form, and the clients of
 * this API, which send no Accept at all. Programs that send a wildcard look at the status.
 */
export function wayOfDeploy(asked: AnswerRequest): AnswerWay {
  const isStream = acceptsStream(asked.accept);
  const isRead = isStream || asked.isVersioned || asked.accept === undefined || prefersText(asked.accept);
  return { holdMs: isRead ? 0 : UNTIL_THE_END, asText: !isStream };
}
