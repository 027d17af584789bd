/** What an image may be. A registry is somebody else's machine, and an image somebody else's work. */
export interface ImageLimits {
  readonly manifestBytes: number;
  readonly layers: number;
  /** Of all layers as they come. */
  readonly compressedBytes: number;
  /** Of all files, of all layers. */
  readonly unpackedBytes: number;
  /** Files, directories, links and removals, of all layers. */
  readonly entries: number;
  /** Without a byte. */
  readonly stallMs: number;
  /** Of the whole. */
  readonly timeoutMs: number;
}

const MIB = 1024 * 1024;

export const IMAGE_LIMITS: Omit<ImageLimits, 'timeoutMs'> = {
  manifestBytes: 4 * MIB,
  layers: 128,
  compressedBytes: 4 * 1024 * MIB,
  unpackedBytes: 10 * 1024 * MIB,
  entries: 500_000,
  stallMs: 60_000,
};

export function mib(bytes: number): string {
  return `${(bytes / MIB).toFixed(1)} MiB`;
}
