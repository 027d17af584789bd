/** How a process that begins anew takes less memory: what glibc and V8 read only when a process begins. */

const ALLOCATION = {
  // Each thread has its own otherwise, up to eight for each processor.
  MALLOC_ARENA_MAX: '2',
  // Blocks of so many bytes or more go back to the system when they are freed; smaller ones leave holes. What comes over TLS comes in blocks of this size.
  MALLOC_MMAP_THRESHOLD_: `${16 * 1024}`,
} as const;

/** Of each half of the young generation, in MB. staySmall() bounds it as well, but too late where a start is busy: then it grows to 64 in all. */
const HALF_YOUNG = '4';
const FLAG = '--max-semi-space-size';

/** The same for a process that nobody begins anew: what its environment is to have from the first. */
export const LESS_MEMORY = { ...ALLOCATION, NODE_OPTIONS: `${FLAG}=${HALF_YOUNG}` } as const;

/** For what this process becomes by execve(2), if it does. What an operator has set stays. */
export function takeLessMemory({ env, execArgv }: Pick<NodeJS.Process, 'env' | 'execArgv'>): void {
  for (const [name, value] of Object.entries(ALLOCATION)) env[name] ??= value;
  const isSet = [...execArgv, env['NODE_OPTIONS'] ?? ''].some((words) => words.includes(FLAG));
  if (!isSet) execArgv.push(`${FLAG}=${HALF_YOUNG}`);
}
