/**
 * Descriptor of the public listener in every process of the edge. Whoever starts the edge has bound it, or hands on the one it
 * serves itself: so there is no moment in which nobody listens, and what waits to be accepted is not lost with a process.
 */
export const LISTENER_FD = 3;
