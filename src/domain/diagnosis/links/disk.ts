import { brokenBy, type DiagnosisLink } from '../link.ts';

/** With less the databases, and so every change of an app, are in danger. */
const LEAST_FREE_BYTES = 64 * 1024 ** 2;

export const diskLink: DiagnosisLink = {
  name: 'disk',
  asks: 'Is there room on the disk of the platform?',
  check(facts) {
    const { disk } = facts;
    const isFull = disk !== null && disk.freeBytes < LEAST_FREE_BYTES;
    if (!isFull) return brokenBy(facts, ['disk_full', 'disk_low']);
    const free = Math.floor(disk.freeBytes / 1024 ** 2);
    return {
      cause: `The disk of the platform is full: ${free} MiB are free of ${Math.floor(disk.totalBytes / 1024 ** 2)} MiB.`,
      command: 'Make room on the machine; what can go without harm: tancho healer run slugs',
    };
  },
};
