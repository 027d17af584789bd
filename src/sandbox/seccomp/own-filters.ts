/** Pure: which system calls the platform's own processes may make. They are made of those of a sandbox, so that one list is looked after. */
import { give } from './bpf.ts';
import { ALLOWED, type Judge, judgementOf, REFUSED } from './filter.ts';

/** Of other processes, of the kernel and of the machine as a whole, which nothing here looks into or changes; namespaces, mounts and limits are control's work. */
const NOT_FOR_CONTROL: ReadonlySet<string> = new Set(
  `_sysctl acct add_key afs_syscall bpf clock_settime create_module delete_module fanotify_init finit_module get_kernel_syms
  init_module io_uring_enter io_uring_register io_uring_setup ioperm iopl kcmp kexec_file_load kexec_load keyctl lookup_dcookie
  nfsservctl open_by_handle_at perf_event_open pidfd_getfd process_madvise query_module reboot request_key security settimeofday
  swapoff swapon sysfs syslog tuxcall uselib userfaultfd ustat vhangup vserver`.split(/\s+/),
);

/** Beyond what a sandbox is refused: it looks after no other programs, and makes no devices. */
const NOT_FOR_EDGE: ReadonlySet<string> = new Set(
  `capset fanotify_mark memfd_secret mknod mknodat modify_ldt mq_notify mq_open mq_timedreceive mq_timedsend mq_unlink msgctl msgget msgrcv
  msgsnd name_to_handle_at process_mrelease process_vm_readv process_vm_writev ptrace semctl semget semop semtimedop shmat shmctl shmdt
  shmget`.split(/\s+/),
);

/** What mount(8) asks for. */
const MOUNTING: ReadonlySet<string> = new Set(
  'fsconfig fsmount fsopen mount mount_setattr move_mount open_tree'.split(' '),
);

/** Of control, and of all that it starts. */
export const ofControl: Judge = (name = '') => [give(NOT_FOR_CONTROL.has(name) ? REFUSED : ALLOWED)];

/** `mounts`: it makes some while it is root yet; later they are refused to it as to everybody. */
export function ofEdge({ mounts }: { mounts: boolean }): Judge {
  return (name) => {
    if (name === undefined) return judgementOf(name);
    if (mounts && MOUNTING.has(name)) return [give(ALLOWED)];
    return NOT_FOR_EDGE.has(name) ? [give(REFUSED)] : judgementOf(name);
  };
}
