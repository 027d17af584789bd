import type { PlatformDoor } from '../routing/platform-route.ts';

/** Every bound of the edge in one place; all times in milliseconds. */
export interface EdgeLimits {
  /** Bytes of a request's or response's head. */
  readonly headBytes: number;
  /** Client connections of one worker. */
  readonly clientConnections: number;
  /** Client connections of one address, unless it is that of a trusted proxy; and requests of all those of them that speak HTTP/2. */
  readonly connectionsPerAddress: number;
  /** Connections to one target for requests; upgraded connections are not counted. */
  readonly connectionsPerTarget: number;
  readonly idlePerTarget: number;
  /** Requests that may wait for a connection to one target. */
  readonly queuePerTarget: number;
  /** Requests to one app that may wait for it to be served again. */
  readonly heldPerApp: number;
  /** Requests of one client to one app whose body has not come yet. */
  readonly uploadsPerClient: number;
  /** Less is too slow for a body, on the average and beyond `uploadFreeMs`; 0: nothing is too slow. */
  readonly uploadBytesPerSecond: number;
}

export interface Timeouts {
  /** From the beginning of a client connection to its first byte. */
  readonly firstByteMs: number;
  /** From the first byte of a request's head to its last. */
  readonly headMs: number;
  /** A client connection without a request. */
  readonly idleMs: number;
  /** The same for HTTP/2, once another edge has taken over: then the client is asked to leave. */
  readonly quietMs: number;
  /** A client of HTTP/2 that is never quiet is asked to leave after so long. */
  readonly leaveMs: number;
  readonly connectMs: number;
  /** From the beginning of a request whose app's units take no connections: so long it may wait for them, or for a table with others. */
  readonly unreachedMs: number;
  /** In the queue of a target. */
  readonly queueMs: number;
  /** From the whole request to the head of its answer. */
  readonly answerMs: number;
  /** A body that does not move though it could: the client neither sends nor reads, or the unit does not read. */
  readonly stallMs: number;
  /** A body may come as slowly as it likes for so long. */
  readonly uploadFreeMs: number;
  /** A unit silent in the middle of its answer, or an upgraded connection without traffic. */
  readonly silenceMs: number;
  /** What is still read of a client after the last answer on its connection. */
  readonly lingerMs: number;
  /** For an answer, or more of a websocket, to a client that has closed its sending side. */
  readonly halfClosedMs: number;
  /** A pooled connection to a unit, unless the unit's Keep-Alive names less. */
  readonly unitIdleMs: number;
}

export interface EdgeProxySettings {
  /** Addresses and networks of proxies whose word is taken for whom they speak for. */
  readonly trustedProxies: readonly string[];
  /** Every connection of a trusted proxy begins with a header of the PROXY protocol. */
  readonly proxyProtocol: boolean;
  /** Of Strict-Transport-Security, in answers by HTTPS; 0: it is not said. */
  readonly hstsSeconds: number;
  /** Offered to clients over TLS. */
  readonly http2: boolean;
  /** Null: its names lead to no app. */
  readonly platform: PlatformDoor | null;
  /** Processes that share what is bounded per app. */
  readonly workers: number;
  readonly limits: EdgeLimits;
  readonly timeouts: Timeouts;
}

export const DEFAULT_SETTINGS: EdgeProxySettings = {
  trustedProxies: [],
  proxyProtocol: false,
  hstsSeconds: 0,
  http2: true,
  platform: null,
  workers: 1,
  limits: {
    headBytes: 32_768,
    clientConnections: 16_384,
    connectionsPerAddress: 4_096,
    connectionsPerTarget: 1_024,
    idlePerTarget: 64,
    queuePerTarget: 256,
    heldPerApp: 1_024,
    uploadsPerClient: 128,
    uploadBytesPerSecond: 240,
  },
  timeouts: {
    firstByteMs: 15_000,
    headMs: 15_000,
    idleMs: 75_000,
    quietMs: 100,
    leaveMs: 10_000,
    connectMs: 5_000,
    unreachedMs: 15_000,
    queueMs: 10_000,
    answerMs: 60_000,
    stallMs: 60_000,
    uploadFreeMs: 20_000,
    silenceMs: 3_600_000,
    lingerMs: 2_000,
    halfClosedMs: 5_000,
    unitIdleMs: 4_000,
  },
};
