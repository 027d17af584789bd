# Gets the sockets that hold-ports.pl holds, and becomes the command that is to have them, in any case.
#
#   perl receive-ports.pl RECVMSG SOCKET SECONDS VARIABLE COMMAND...
#
#   RECVMSG   number of the system call recvmsg(2) on this processor
#   SOCKET    path of the unix socket of hold-ports.pl
#   SECONDS   how long it may take at most
#   VARIABLE  set for the command: "<pid> <connection> <label>=<descriptor>...", or "<pid> " where nobody holds ports
#
# The descriptors of the ports and of the connection are inherited by the command; the connection is to be closed by its end.
# Standard error: why no ports came, unless it is that nobody holds any.
use strict;
use warnings;
use Errno qw(ECONNREFUSED ENOENT);
use Socket;

# Room for the labels and for the descriptors with their header.
use constant { TEXT_BYTES => 4096, RIGHTS_BYTES => 256, RIGHTS_HEADER_BYTES => 16 };

my ($recvmsg, $path, $seconds, $variable, @command) = @ARGV;
# Descriptors up to this number stay open across exec.
$^F = 255;

socket my $connection, AF_UNIX, SOCK_STREAM, 0 or die "socket: $!\n";
my $found = eval {
    local $SIG{ALRM} = sub { die "the ports were not handed over\n" };
    alarm $seconds;
    receive_ports();
} // '';
alarm 0;
warn $@ if $@ =~ /\S/;
close $connection if $found eq '';
$ENV{$variable} = "$$ $found";
exec { $command[0] } @command or die "$command[0]: $!\n";

sub receive_ports {
    # The socket may be left from before the machine was started anew.
    connect $connection, pack_sockaddr_un($path)
        or die $! == ECONNREFUSED || $! == ENOENT ? "\n" : "$path: $!\n";
    my ($text, $rights) = ("\0" x TEXT_BYTES, "\0" x RIGHTS_BYTES);
    # struct iovec and struct msghdr: see hold-ports.pl.
    my $parts = pack 'P Q', $text, length $text;
    my $message = pack 'Q L x4 P Q P Q i x4', 0, 0, $parts, 1, $rights, length $rights, 0;
    my $length = syscall $recvmsg + 0, fileno $connection, $message, 0;
    die "$path: $!\n" if $length < 0;
    die "$path: nothing was handed over\n" if $length == 0;
    my @labels = split ' ', substr $text, 0, $length;
    my @descriptors = unpack 'x' . RIGHTS_HEADER_BYTES . ' i' . @labels, $rights;
    return join ' ', fileno $connection, map { "$labels[$_]=$descriptors[$_]" } 0 .. $#labels;
}
