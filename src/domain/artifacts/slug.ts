/** A slug: the built output, a directory with code, and this manifest. Written by the builder or from an image, read by engines. */
export interface SlugManifest {
  readonly format: 1;
  readonly platform: string;
  /** Absolute directories put in front of PATH. */
  readonly path: readonly string[];
  /** Defaults below the app's own environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute directories outside the slug that its units must see, read-only (toolchains, dependency layers). */
  readonly binds: readonly string[];
  /** What it was built on; absent: the directories of the machine. */
  readonly base?: SlugBase;
  /** There when `code/` is a whole root file system. Command lines are then lists of arguments (lib/argv-text.ts), not for a shell. */
  readonly image?: SlugImage;
}

/** As whom processes see themselves where nothing says otherwise; no root, without whose rights programs that find themselves to be root go wrong. */
export const ORDINARY_USER = 1000;

/** Where processes of an image find files of the machine; /etc/hosts and /etc/resolv.conf of the image are links to there. */
export const MACHINE_FILES = '/.tancho';

export interface SlugBase {
  /** Name with digest. */
  readonly image: string;
  /** Absolute: its root file system on this machine, which is everybody's. */
  readonly root: string;
  /** Absolute: the directory of the platform, in place of which only what the process may see is shown. */
  readonly home: string;
  /** As whom processes see themselves, and by which name the root knows them. */
  readonly uid: number;
  readonly gid: number;
  readonly name: string;
}

export interface SlugImage {
  /** Of the manifest for this machine's kind of processor, such as `sha256:...`. */
  readonly digest: string;
  /** Absolute, within the root. */
  readonly directory: string;
  readonly home: string;
  /** As which processes see themselves. */
  readonly uid: number;
  readonly gid: number;
  /** Of the uid, in the root; absent in those of earlier versions. */
  readonly name?: string;
  /** TCP ports that the image says it listens on: good for advice only. */
  readonly ports: readonly number[];
  /** Which of /bin/sh, /bin/bash and /usr/bin/setsid are there. */
  readonly programs: readonly string[];
}
