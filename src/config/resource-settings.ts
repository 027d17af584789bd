/** The settings of what units, builds and records may take; part of the table in schema.ts. */
import { absolutePathOrNone } from './acme-parsers.ts';
import * as parse from './parsers.ts';

export const RESOURCE_SETTINGS = {
  unitMemoryBytes: {
    key: 'units.memory',
    variable: 'TANCHO_UNITS_MEMORY',
    default: '1G',
    description: 'Memory one unit may use; 0 for no limit.',
    parse: parse.size(16 * 1024 ** 2, true),
  },
  startTimeoutSeconds: {
    key: 'units.start-timeout',
    variable: 'TANCHO_UNITS_START_TIMEOUT',
    default: '60s',
    description: 'How long a new unit may take to become ready.',
    parse: parse.seconds(1, 3600),
  },
  watchSeconds: {
    key: 'units.watch',
    variable: 'TANCHO_UNITS_WATCH',
    default: '5s',
    description:
      'How long a new version of a process that does not listen (a worker) is watched before it is judged: one that ends meanwhile has failed. Apps without such processes do not wait.',
    parse: parse.seconds(0, 600),
  },
  drainTimeoutSeconds: {
    key: 'units.drain-timeout',
    variable: 'TANCHO_UNITS_DRAIN_TIMEOUT',
    default: '30s',
    description: 'How long an old unit may take to finish the requests it has.',
    parse: parse.seconds(0, 3600),
  },
  stopGraceSeconds: {
    key: 'units.stop-grace',
    variable: 'TANCHO_UNITS_STOP_GRACE',
    default: '10s',
    description: 'How long a unit may take to end after it was asked to (TERM), before it is killed (KILL).',
    parse: parse.seconds(0, 600),
  },
  buildTimeoutSeconds: {
    key: 'builds.timeout',
    variable: 'TANCHO_BUILDS_TIMEOUT',
    default: '15m',
    description: 'How long a build may take.',
    parse: parse.seconds(1, 86_400),
  },
  buildMemoryBytes: {
    key: 'builds.memory',
    variable: 'TANCHO_BUILDS_MEMORY',
    default: '4G',
    description: 'Memory one step of a build may use, where this machine can limit it; 0 for no limit.',
    parse: parse.size(64 * 1024 ** 2, true),
  },
  unitDiskBytes: {
    key: 'units.disk',
    variable: 'TANCHO_UNITS_DISK',
    default: '10G',
    description:
      'What a unit may hold of files that it has written beside its code, in its home and for itself, unless the plan of its app says otherwise; it is looked at every half minute, and as soon as so much less is free on the disk that one may hold more. One that does is ended and started anew without them, which the log of the app says, and so is the one that holds most when less than the reserve of the disk is free. 0 for no limit.',
    parse: parse.size(1024 ** 2, true),
  },
  unitFiles: {
    key: 'units.files',
    variable: 'TANCHO_UNITS_FILES',
    default: '1000000',
    description:
      'How many files and directories a unit may have made beside its code; one that has more is ended as with units.disk. 0 for no limit.',
    parse: parse.wholeNumber(0, 1_000_000_000),
  },
  repositoryBytes: {
    key: 'repositories.max-size',
    variable: 'TANCHO_REPOSITORIES_MAX_SIZE',
    default: '2G',
    description:
      'What the repository of one app may hold of pushed history and uploads, as it lies on the disk; a push that would make it more is refused, and one push has at most as much, and 1G in any case. 0 for no limit but that.',
    parse: parse.size(1024 ** 2, true),
  },
  diskReserveBytes: {
    key: 'disk.reserve',
    variable: 'TANCHO_DISK_RESERVE',
    default: '512M',
    description:
      'Free space that is left to the databases and the apps: with less, or with room for less than 2 % of the files that the file system can hold, pushes and builds are refused (disk_low) while everything else goes on; 0 for no reserve.',
    parse: parse.size(1024 ** 2, true),
  },
  volumeMaxBytes: {
    key: 'volumes.max-size',
    variable: 'TANCHO_VOLUMES_MAX_SIZE',
    default: '10G',
    description:
      'What a volume may hold where nothing else is said, and the most that users may ask for; admins may give more. It is looked at every minute, and as soon as so much less is free on the disk that one may hold more: a volume that does is reported in the app and its log, and at a twentieth more units have it read-only until it holds less. 0 for no limit.',
    parse: parse.size(1024 ** 2, true),
  },
  buildSlots: {
    key: 'builds.slots',
    variable: 'TANCHO_BUILDS_SLOTS',
    default: '',
    description:
      'How many builds run at once; the others wait, and the owners of apps take turns. Builds get less of the processor and the disk than apps. None: half as many as the machine has cores, at least 1.',
    parse: parse.wholeNumberOrNone(1, 1_000),
  },
  pushReplaces: {
    key: 'deploys.push-replaces',
    variable: 'TANCHO_DEPLOYS_PUSH_REPLACES',
    default: 'waiting',
    description:
      'What a newer push of the same branch takes the place of: waiting (pushes that wait), building (also the one that is being built). A deploy that has been built is never replaced.',
    parse: parse.choice('waiting', 'building'),
  },
  logDays: {
    key: 'logs.days',
    variable: 'TANCHO_LOGS_DAYS',
    default: '30',
    description: 'Days that the log of an app is kept.',
    parse: parse.wholeNumber(1, 36_500),
  },
  logBytesPerApp: {
    key: 'logs.bytes-per-app',
    variable: 'TANCHO_LOGS_BYTES_PER_APP',
    default: '256M',
    description:
      'Bytes of lines kept of the log of an app; the oldest go first. On the disk they take about a quarter of that.',
    parse: parse.size(100 * 1024, false),
  },
  logEntriesPerApp: {
    key: 'logs.entries-per-app',
    variable: 'TANCHO_LOGS_ENTRIES_PER_APP',
    default: '0',
    description: 'Log entries kept per app; the oldest go first. 0 for no limit of their number.',
    parse: parse.wholeNumber(0, 1_000_000_000),
  },
  logBytes: {
    key: 'logs.bytes',
    variable: 'TANCHO_LOGS_BYTES',
    default: '4G',
    description:
      'What the logs of all apps together may take on the disk. Over it the app with the largest log loses its oldest lines, so a noisy app costs the others nothing.',
    parse: parse.size(1024 * 1024, false),
  },
  backupDirectory: {
    key: 'backup.directory',
    variable: 'TANCHO_BACKUP_DIRECTORY',
    default: '',
    description:
      'Absolute path of a directory for backups, best on another disk: databases, repositories, keys, settings, and the built code that runs. Whoever can read it can read every private value. None: no backups are made.',
    parse: absolutePathOrNone,
  },
  backupEverySeconds: {
    key: 'backup.every',
    variable: 'TANCHO_BACKUP_EVERY',
    default: '24h',
    description: 'How often a backup is made by itself; 0 for only when somebody asks.',
    parse: parse.seconds(0, 31 * 86_400),
  },
  backupKeep: {
    key: 'backup.keep',
    variable: 'TANCHO_BACKUP_KEEP',
    default: '7',
    description: 'How many backups are kept; the oldest go when a new one is whole.',
    parse: parse.wholeNumber(1, 1_000),
  },
  eventDays: {
    key: 'events.days',
    variable: 'TANCHO_EVENTS_DAYS',
    default: '90',
    description: 'Days that the record of who changed what is kept.',
    parse: parse.wholeNumber(1, 36_500),
  },
  events: {
    key: 'events.count',
    variable: 'TANCHO_EVENTS_COUNT',
    default: '100000',
    description: 'Entries of that record that are kept, whatever their age; the oldest go first.',
    parse: parse.wholeNumber(100, 10_000_000),
  },
  deployLogsPerApp: {
    key: 'deploys.logs-per-app',
    variable: 'TANCHO_DEPLOYS_LOGS_PER_APP',
    default: '50',
    description: 'Of so many newest deploys of an app what they printed is kept; the deploys themselves stay listed.',
    parse: parse.wholeNumber(1, 100_000),
  },
  deploysPerApp: {
    key: 'deploys.count-per-app',
    variable: 'TANCHO_DEPLOYS_COUNT_PER_APP',
    default: '1000',
    description: 'So many newest deploys of an app stay listed, and those whose release is still there.',
    parse: parse.wholeNumber(10, 1_000_000),
  },
  unusedDays: {
    key: 'builds.unused-days',
    variable: 'TANCHO_BUILDS_UNUSED_DAYS',
    default: '30',
    description:
      'Tools that builds fetched to this machine, and what builds of an app keep for the next one, go when no build has used them for so long. What a kept version needs stays.',
    parse: parse.wholeNumber(1, 36_500),
  },
  toolBytes: {
    key: 'builds.tools-size',
    variable: 'TANCHO_BUILDS_TOOLS_SIZE',
    default: '20G',
    description:
      'What such tools may hold together; those used least recently go first, and what a kept version needs stays. 0 for no limit.',
    parse: parse.size(1024 ** 2, true),
  },
};
