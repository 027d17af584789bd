import type { ServingListeners } from './serving.ts';

/**
 * Descriptor of the public listener in every process of the edge. Whoever starts the edge has bound it, or hands on the one it
 * serves itself: so there is no moment in which nobody listens, and what waits to be accepted is not lost with a process.
 */
export const LISTENER_FD = 3;

/** Of the public listener for TLS, where there is one. */
export const TLS_LISTENER_FD = 4;

export function listeners(hasTls: boolean): ServingListeners {
  return { plain: { fd: LISTENER_FD }, tls: hasTls ? { fd: TLS_LISTENER_FD } : null };
}

/** Descriptors for a process that gets the same listeners, from the third on. */
export function listenerDescriptors(hasTls: boolean): number[] {
  return hasTls ? [LISTENER_FD, TLS_LISTENER_FD] : [LISTENER_FD];
}

/** In a worker: of the file that it keeps its live counts in (live-counts.ts). */
export function countsDescriptor(hasTls: boolean): number {
  return LISTENER_FD + listenerDescriptors(hasTls).length;
}
