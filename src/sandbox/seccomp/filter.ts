/**
 * Pure: which system calls the processes of a sandbox may make, as a program for the kernel. What is refused fails with an error, as it
 * does where the process lacks a right; nobody is killed for asking.
 */
import {
  assemble,
  FIRST_ARGUMENT_AT,
  give,
  type BpfInstruction,
  load,
  NUMBER_AT,
  PROCESSOR_AT,
  SECOND_ARGUMENT_AT,
  skip,
  whenAnyBit,
  whenAtLeast,
  whenEqual,
} from './bpf.ts';
import { type Processor, REFUSED_CALLS, systemCalls } from './system-calls.ts';

export const ALLOWED = 0x7fff0000;
const FAILS = 0x00050000;
const EPERM = 1;
const ENOSYS = 38;
/** The call exists, and is forbidden: EPERM. */
export const REFUSED = FAILS | EPERM;
/** Programs then do without it: what is newer than this list, and calls whose arguments a filter cannot see. */
export const UNKNOWN = FAILS | ENOSYS;

const PROCESSORS: Readonly<Record<Processor, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };
/** From here on the numbers of x64 are those of another, older way in. */
const OTHER_WAY_IN = 0x4000_0000;
/** Flags of clone() that make namespaces. */
const NEW_NAMESPACES = 0x7e02_0000;
/** Unix sockets, IPv4 and IPv6, and netlink, which reports the network's addresses. Asking for any other kind has the kernel load the module for it. */
const FAMILIES = [1, 2, 10, 16];
/** Linux, with 32-bit addresses, with the kernel's name of 2.6, both, and the question which one it is. */
const PERSONALITIES = [0, 8, 0x20000, 0x20008, 0xffffffff];

/** FS_IOC_SETFLAGS and FS_IOC_FSSETXATTR: an owner of files could take them out of the project whose quota they are in. */
const PROJECT_CHANGES = [0x40086602, 0x401c5820];

const SOCKETS: readonly BpfInstruction[] = [
  load(FIRST_ARGUMENT_AT),
  ...FAMILIES.flatMap((family) => [whenEqual(family), give(ALLOWED)]),
  give(REFUSED),
];

/** What depends on an argument, by name. Each ends with a verdict. */
const JUDGED: Readonly<Record<string, readonly BpfInstruction[]>> = {
  clone: [load(FIRST_ARGUMENT_AT), whenAnyBit(NEW_NAMESPACES), give(REFUSED), give(ALLOWED)],
  // Its flags are in memory, where a filter does not look.
  clone3: [give(UNKNOWN)],
  ioctl: [
    load(SECOND_ARGUMENT_AT),
    ...PROJECT_CHANGES.flatMap((value) => [whenEqual(value), give(REFUSED)]),
    give(ALLOWED),
  ],
  socket: SOCKETS,
  socketpair: SOCKETS,
  personality: [
    load(FIRST_ARGUMENT_AT),
    ...PERSONALITIES.flatMap((value) => [whenEqual(value), give(ALLOWED)]),
    give(REFUSED),
  ],
};

interface Range {
  /** First number. */
  readonly from: number;
  readonly judgement: readonly BpfInstruction[];
}

/** What becomes of a call; ends with a verdict. Undefined: it is not of our list. */
export type Judge = (name: string | undefined) => readonly BpfInstruction[];

/** Null for kinds of processors that are not known here. */
export function seccompFilter(processor: string, judge: Judge = judgementOf): Buffer | null {
  return processor === 'x64' || processor === 'arm64' ? assemble(filterProgram(processor, judge)) : null;
}

export function filterProgram(processor: Processor, judge: Judge = judgementOf): BpfInstruction[] {
  return [
    load(PROCESSOR_AT),
    whenEqual(PROCESSORS[processor]),
    skip(1),
    give(UNKNOWN),
    load(NUMBER_AT),
    ...search(ranges(systemCalls(processor), judge)),
  ];
}

/** Neighbours that are judged alike are one. */
function ranges(calls: ReadonlyMap<string, number>, judge: Judge): Range[] {
  const names = new Map([...calls].map(([name, number]) => [number, name]));
  const last = Math.max(...names.keys());
  const found: Range[] = [];
  for (let number = 0; number <= last + 1; number += 1) {
    const judgement = judge(names.get(number));
    if (!isSame(found.at(-1)?.judgement, judgement)) found.push({ from: number, judgement });
  }
  return [...found, { from: OTHER_WAY_IN, judgement: [give(UNKNOWN)] }];
}

/** Of the processes of a sandbox. */
export function judgementOf(name: string | undefined): readonly BpfInstruction[] {
  if (name === undefined) return [give(UNKNOWN)];
  return JUDGED[name] ?? [give(REFUSED_CALLS.has(name) ? REFUSED : ALLOWED)];
}

function isSame(one: readonly BpfInstruction[] | undefined, other: readonly BpfInstruction[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** A tree of comparisons. */
function search(found: readonly Range[]): BpfInstruction[] {
  const middle = Math.floor(found.length / 2);
  const pivot = found[middle];
  if (middle === 0 || pivot === undefined) return [...(found[0]?.judgement ?? [])];
  const below = search(found.slice(0, middle));
  return [whenAtLeast(pivot.from), skip(below.length), ...below, ...search(found.slice(middle))];
}
