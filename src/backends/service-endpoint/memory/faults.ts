/** The ways in which a provider misbehaves, around one that does not. */
import {
  type EndpointCall,
  EndpointFailure,
  type EndpointFailureCode,
  type ServiceEndpoint,
} from '../../../domain/services/service-endpoint.ts';

export const FAULTS = [
  'none',
  /** Says no, and has done nothing. */
  'refuses',
  /** The connection is refused. */
  'away',
  /** Does nothing and answers nothing. */
  'hangs',
  /** Does it and answers nothing. */
  'hangs after',
  /** Does it and answers what means nothing. */
  'lies',
  /** Does it and dies before it answers. */
  'dies after',
  /** Does nothing and dies, but the caller cannot know that. */
  'dies before',
] as const;
export type Fault = (typeof FAULTS)[number];

export type Method = keyof ServiceEndpoint;

/** `choose` is asked before every call. */
export function misbehaving(endpoint: ServiceEndpoint, choose: (method: Method) => Fault): ServiceEndpoint {
  return new Proxy(endpoint, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]) =>
        misbehave(choose(property as Method), given, () => Reflect.apply(value, target, given) as Promise<unknown>);
    },
  });
}

async function misbehave(fault: Fault, given: readonly unknown[], real: () => Promise<unknown>): Promise<unknown> {
  const call = given.at(-1) as EndpointCall;
  switch (fault) {
    case 'none':
      return real();
    case 'refuses':
      throw failure('refused', 'The provider says no.', false);
    case 'away':
      throw failure('unreachable', 'Nothing listens there.', false);
    case 'dies before':
      throw failure('unreachable', 'The connection broke.', true);
    case 'hangs':
      return untilAborted(call);
    case 'hangs after':
      await real();
      return untilAborted(call);
    case 'lies':
      await real();
      throw failure('invalid_answer', 'The answer is not what the contract says.', true);
    case 'dies after':
      await real();
      throw failure('unreachable', 'The connection broke.', true);
  }
}

function failure(code: EndpointFailureCode, message: string, mayHaveHappened: boolean): EndpointFailure {
  return new EndpointFailure(code, message, { mayHaveHappened });
}

function untilAborted({ signal }: EndpointCall): Promise<never> {
  return new Promise((_, reject) => {
    const give = (): void => reject(failure('timeout', 'The provider does not answer.', true));
    if (signal.aborted) give();
    else signal.addEventListener('abort', give, { once: true });
  });
}
