/** Has a program run under a filter of system calls, without one of our own between: by perl, which makes any call by its number. */
import { findProgram } from '../../lib/find-program.ts';
import { seccompFilter } from './filter.ts';
import { ofControl } from './own-filters.ts';
import { systemCalls } from './system-calls.ts';

/** Without a filter, which a kernel may not have, the program runs all the same. */
const PROGRAM = `
my ($prctl, $seccomp, $gainsNothing, $hex, @command) = @ARGV;
my $filter = pack 'H*', $hex;
my $program = pack 'S x![P] P', length($filter) / 8, $filter;
syscall($prctl + 0, 38, 1, 0, 0, 0) if $gainsNothing;
syscall($seccomp + 0, 1, 4, $program) == 0 or warn "no filter of system calls: $!\\n";
exec { $command[0] } @command or die "$command[0]: $!\\n";
`;

/**
 * To be put before a command, whose process stays the same. `gainsNothing`: programs that make themselves root do not do so for it, without which only root
 * can have a filter. Null: this machine has no means for it, or `filter` is null.
 */
export function underFilter(
  filter: Buffer | null,
  { gainsNothing }: { gainsNothing: boolean },
): readonly string[] | null {
  const perl = findProgram('perl');
  if (filter === null || perl === null || process.platform !== 'linux') return null;
  const calls = systemCalls(process.arch === 'arm64' ? 'arm64' : 'x64');
  const numbers = ['prctl', 'seccomp'].map((name) => `${calls.get(name)}`);
  return [perl, '-e', PROGRAM, '--', ...numbers, gainsNothing ? '1' : '0', filter.toString('hex')];
}

/** Empty where this machine has no means for it. Control starts programs that make themselves others, so it needs to be root. */
export function controlUnderFilter(): readonly string[] {
  return underFilter(seccompFilter(process.arch, ofControl), { gainsNothing: false }) ?? [];
}
