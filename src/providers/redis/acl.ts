/** What a binding may do: everything within its prefix, and nothing that shows or touches what is outside of it. */

export interface RedisVersion {
  readonly major: number;
  readonly minor: number;
}

/**
 * Rules for ACL SETUSER. Commands that name no key are not held by the key pattern, so those that report on all keys (SCAN,
 * RANDOMKEY, DBSIZE, CLIENT TRACKING), channels (PUBSUB) or code (FUNCTION), and those that leave database 0 are off.
 */
export function aclRules(passwordHash: string, prefix: string, { major, minor }: RedisVersion): string[] {
  const off = ['@admin', '@dangerous', 'scan', 'randomkey', 'dbsize', 'select', 'move', 'swapdb', 'pubsub'];
  const whole = ['client', 'memory', 'acl', 'script', 'cluster', 'module', 'latency'];
  const on = ['info', 'client|setname', 'client|getname', 'client|id', 'client|reply', 'memory|usage', 'acl|whoami'];
  const isFrom62 = major > 6 || minor >= 2;
  // Before, a channel cannot be closed to anybody: a binding gets none, or it would hear those of all the others.
  off.push(isFrom62 ? 'copy' : '@pubsub');
  if (major >= 7) whole.push('function', 'fcall', 'fcall_ro');
  if (major > 7 || (major === 7 && minor >= 2)) on.push('client|setinfo');
  const channels = isFrom62 ? [`&${prefix}*`] : [];
  return [
    'reset',
    'on',
    `#${passwordHash}`,
    `~${prefix}*`,
    ...channels,
    '+@all',
    ...[...off, ...whole].map((name) => `-${name}`),
    ...[...on, 'script|load', 'script|exists'].map((name) => `+${name}`),
  ];
}
