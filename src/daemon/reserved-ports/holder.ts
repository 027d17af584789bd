/**
 * A process that keeps ports of this server while control is away, so that no app takes one meanwhile: it listens there, and cuts off whoever
 * connects, until the next control is handed them. By perl, which makes the calls that hand descriptors from one process to another.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { findProgram } from '../../lib/find-program.ts';
import { systemCalls } from '../../sandbox/seccomp/system-calls.ts';

/** A socket that listens. */
export interface HeldPort {
  /** Without spaces and `=`. */
  readonly label: string;
  readonly descriptor: number;
}

interface HolderPlaces {
  /** Where it hands them over. */
  readonly socket: string;
  /** Pid file of control. */
  readonly control: string;
}

/**
 * A socket that listens stays so, for between two others anybody could be first. Its input, and then the connection of each next control, ends with that control. A version that knows nothing of this does not ask, and is made
 * way for. The calls are those of 64-bit Linux: a message of one part, and the descriptors as its rights (SCM_RIGHTS).
 */
const HOLDER = `
use strict;
use Socket;
my ($sendmsg, $path, $control, @labels) = @ARGV;
# For whoever looks who has a port.
$0 = 'tancho: keeps the ports of ' . $path =~ s{/run/[^/]*\\z}{}r;
# Whoever has asked may be gone.
$SIG{PIPE} = 'IGNORE';
my @ports = map { open my $port, '+<&=', $_ or die "descriptor $_: $!\\n"; $port } 3 .. 2 + @labels;
sub lineOf { open my $file, '<', shift or return ''; scalar(<$file>) // '' }
my $last = '';
sub isAnotherThere {
  my $line = lineOf("$control.start");
  my ($pid, $start) = split ' ', $line;
  my ($state, @fields) = split ' ', lineOf('/proc/' . ($pid // 0) . '/stat') =~ s/.*\\) //sr;
  return $line ne $last && defined $state && $state ne 'Z' && $fields[18] eq $start;
}
sub handedOver {
  accept my $next, shift or return;
  my $text = join ' ', @labels;
  my $parts = pack 'P Q', $text, length $text;
  my $rights = pack 'Q i i i*', 16 + 4 * @ports, 1, 1, map { fileno $_ } @ports;
  $rights .= "\\0" x (-length($rights) % 8);
  my $message = pack 'Q L x4 P Q P Q i x4', 0, 0, $parts, 1, $rights, length $rights, 0;
  return syscall($sendmsg + 0, fileno $next, $message, 0) < 0 ? undef : $next;
}
unlink $path;
socket my $door, AF_UNIX, SOCK_STREAM, 0 or die "socket: $!\\n";
my $mask = umask 0177;
bind $door, pack_sockaddr_un($path) or die "$path: $!\\n";
umask $mask;
listen $door, 1 or die "$path: $!\\n";
syswrite STDOUT, "held\\n";
my $link = \\*STDIN;
while (1) {
  1 while sysread $link, my $bytes, 4096;
  # It may take a moment to end.
  $last = lineOf("$control.start");
  my $next;
  until ($next) {
    exit if !-S $path || isAnotherThere();
    my $set = '';
    vec($set, fileno $_, 1) = 1 for $door, @ports;
    next if select($set, undef, undef, 0.1) <= 0;
    for (grep { vec($set, fileno $_, 1) } @ports) {
      accept my $client, $_ or next;
      setsockopt $client, SOL_SOCKET, SO_LINGER, pack 'ii', 1, 0;
    }
    $next = handedOver($door) if vec($set, fileno $door, 1);
  }
  $link = $next;
}
`;

/** Sets a variable to its pid, the number of the connection and `<label>=<descriptor>` for each, then becomes the command in any case. */
const RECEIVER = `
use strict;
use Errno qw(ECONNREFUSED ENOENT);
use Socket;
my ($recvmsg, $path, $seconds, $variable, @command) = @ARGV;
$^F = 255;
my $found = '';
socket my $link, AF_UNIX, SOCK_STREAM, 0 or die "socket: $!\\n";
eval {
  local $SIG{ALRM} = sub { die "the ports were not handed over\\n" };
  alarm $seconds;
  # Left from before a start of the machine, for one: nobody keeps ports, which is nothing to say.
  connect $link, pack_sockaddr_un($path) or die $! == ECONNREFUSED || $! == ENOENT ? "\\n" : "$path: $!\\n";
  my ($text, $rights) = (pack('x4096'), pack('x256'));
  my $parts = pack 'P Q', $text, length $text;
  my $message = pack 'Q L x4 P Q P Q i x4', 0, 0, $parts, 1, $rights, length $rights, 0;
  my $length = syscall $recvmsg + 0, fileno $link, $message, 0;
  die "$path: $!\\n" if $length <= 0;
  my @labels = split ' ', substr $text, 0, $length;
  my @descriptors = unpack 'x16 i' . @labels, $rights;
  $found = join ' ', fileno $link, map { "$labels[$_]=$descriptors[$_]" } 0 .. $#labels;
};
alarm 0;
warn $@ if $@ =~ /\\S/;
close $link if $found eq '';
$ENV{$variable} = "$$ $found";
exec { $command[0] } @command or die "$command[0]: $!\\n";
`;

/** A control that lives hands over nothing; nobody is asked then. */
const HANDED_OVER_WITHIN_SECONDS = 5;

/** Throws Error where this machine lacks what it takes. Its input is to end with this process, and says nothing; it prints a line once it holds them. */
export function startHolder(
  ports: readonly HeldPort[],
  { socket, control }: HolderPlaces,
  errors: number,
): ChildProcess {
  const program = programOf(HOLDER, 'sendmsg');
  if (program === null) throw new Error('it takes perl, on Linux');
  const [perl = '', ...words] = program;
  return spawn(perl, [...words, socket, control, ...ports.map(({ label }) => label)], {
    cwd: '/',
    env: {},
    detached: true,
    stdio: ['pipe', 'pipe', errors, ...ports.map(({ descriptor }) => descriptor)],
  });
}

/** To be put before a command, which gets the ports and the connection as descriptors. Null: this machine lacks what it takes. */
export function receiver(socket: string, variable: string): readonly string[] | null {
  const program = programOf(RECEIVER, 'recvmsg');
  return program === null ? null : [...program, socket, `${HANDED_OVER_WITHIN_SECONDS}`, variable];
}

function programOf(text: string, call: string): readonly string[] | null {
  const perl = findProgram('perl');
  if (perl === null || process.platform !== 'linux') return null;
  const number = systemCalls(process.arch === 'arm64' ? 'arm64' : 'x64').get(call);
  return number === undefined ? null : [perl, '-e', text, '--', `${number}`];
}
