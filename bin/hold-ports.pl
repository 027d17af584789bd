# Holds listening sockets while control is away, so that no app takes their ports, and hands them to the next control.
# Perl, because Node has no call that passes descriptors to a process that it did not start.
#
#   perl hold-ports.pl SENDMSG SOCKET PIDFILE LABEL...
#
#   SENDMSG  number of the system call sendmsg(2) on this processor
#   SOCKET   path of the unix socket at which the next control asks
#   PIDFILE  pid file of control; beside it, PIDFILE.start has the line "<pid> <start time>"
#   LABEL    one for each socket, which are the descriptors 3, 4, ... in this order; without spaces and "="
#
# Standard output: the line "held" when SOCKET can be connected to. Standard error: why it ended, if it failed.
# Standard input ends with the control of now; until then nothing is done. From then on who connects to a held port is reset,
# and who connects to SOCKET is sent one message: the labels, separated by spaces, with the descriptors (SCM_RIGHTS). The end
# of that connection is the end of the next control, as that of standard input was.
# Exits when SOCKET is removed, and when a control is there that has not asked: one of a version that does not know of this.
use strict;
use warnings;
use Socket;

use constant { FIRST_DESCRIPTOR => 3, POLL_SECONDS => 0.1, READ_BYTES => 4096 };

my ($sendmsg, $path, $pid_file, @labels) = @ARGV;
# What people see who look for the process that has the port.
$0 = 'tancho: keeps the ports of ' . $path =~ s{/run/[^/]*\z}{}r;
# Whoever has asked may be gone before the answer.
$SIG{PIPE} = 'IGNORE';

my @ports = map { inherited(FIRST_DESCRIPTOR + $_) } 0 .. $#labels;
my $door = listening($path);
syswrite STDOUT, "held\n";

my $control = \*STDIN;
while (1) {
    until_closed($control);
    $control = next_control() // exit;
}

sub inherited {
    my ($descriptor) = @_;
    # The sockets go on listening all the time: between two binds anybody could be first.
    open my $socket, '+<&=', $descriptor or die "descriptor $descriptor: $!\n";
    return $socket;
}

sub listening {
    my ($place) = @_;
    unlink $place;
    socket my $socket, AF_UNIX, SOCK_STREAM, 0 or die "socket: $!\n";
    my $mask = umask 0177;
    bind $socket, pack_sockaddr_un($place) or die "$place: $!\n";
    umask $mask;
    listen $socket, 1 or die "$place: $!\n";
    return $socket;
}

sub until_closed {
    my ($stream) = @_;
    1 while sysread $stream, my $bytes, READ_BYTES;
}

# The connection of the control that has the ports now; undef when nobody is to hold them any more.
sub next_control {
    # Its process may exist for a moment after its descriptors are closed.
    my $before = first_line("$pid_file.start");
    while (-S $path && !is_another_there($before)) {
        my $wanted = '';
        vec($wanted, fileno $_, 1) = 1 for $door, @ports;
        next if select($wanted, undef, undef, POLL_SECONDS) <= 0;
        reset_client($_) for grep { vec $wanted, fileno $_, 1 } @ports;
        next if !vec $wanted, fileno $door, 1;
        accept my $client, $door or next;
        return $client if send_ports($client);
    }
    return undef;
}

sub is_another_there {
    my ($before) = @_;
    my $line = first_line("$pid_file.start");
    my ($pid, $start) = split ' ', $line;
    return 0 if $line eq $before || !defined $start;
    # proc(5): behind the name, which may contain anything, come the state and 18 fields before the start time.
    my ($state, @fields) = split ' ', first_line("/proc/$pid/stat") =~ s/.*\) //sr;
    return defined $state && $state ne 'Z' && $fields[18] eq $start;
}

sub first_line {
    my ($file) = @_;
    open my $lines, '<', $file or return '';
    return scalar(<$lines>) // '';
}

sub reset_client {
    my ($port) = @_;
    accept my $client, $port or return;
    # Closed with a linger of zero seconds it is reset, and leaves no connection in TIME_WAIT.
    setsockopt $client, SOL_SOCKET, SO_LINGER, pack 'ii', 1, 0;
}

# False when whoever asked is gone.
sub send_ports {
    my ($client) = @_;
    my $text = join ' ', @labels;
    # As 64-bit Linux lays them out. struct iovec: base, length.
    my $parts = pack 'P Q', $text, length $text;
    # struct cmsghdr: length, level, type, then the descriptors, padded to eight bytes.
    my $rights = pack 'Q i i i*', 16 + 4 * @ports, SOL_SOCKET, SCM_RIGHTS, map { fileno $_ } @ports;
    $rights .= "\0" x (-length($rights) % 8);
    # struct msghdr: name and its length (none), iovec and their number, control data and its length, flags.
    my $message = pack 'Q L x4 P Q P Q i x4', 0, 0, $parts, 1, $rights, length $rights, 0;
    return syscall($sendmsg + 0, fileno $client, $message, 0) >= 0;
}
