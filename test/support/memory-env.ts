/** The environments of apps in memory. */
import type { EnvVar } from '../../src/domain/apps/app.ts';
import type { Env } from '../../src/domain/env/env.ts';
import { PlatformError } from '../../src/domain/errors.ts';
import type { Memory } from './memory-state.ts';

export function envIn(memory: Memory): Env {
  return {
    async get(caller, name, names) {
      memory.allowed(caller, 'env.get', name);
      const all = [...(memory.envs.get(name)?.values() ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1));
      return names === undefined ? all : all.filter((variable) => names.includes(variable.name));
    },
    async set(caller, name, vars, _change, say) {
      memory.allowed(caller, 'env.set', name);
      const own = memory.envs.get(name) ?? new Map<string, EnvVar>();
      for (const variable of vars) checkVariable(variable.name);
      for (const { name: key, value, public: isPublic } of vars) {
        own.set(String(key), { name: String(key), value: String(value), public: isPublic, managedBy: '' });
      }
      memory.envs.set(name, own);
      say(`---- Setting ${vars.length} new environment variables ----`);
    },
    async unset(caller, name, names, _change, say) {
      memory.allowed(caller, 'env.unset', name);
      for (const key of names) memory.envs.get(name)?.delete(String(key));
      say(`---- Unsetting ${names.length} environment variables ----`);
    },
  };
}

function checkVariable(name: unknown): void {
  if (typeof name === 'string' && /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return;
  throw new PlatformError('env.invalid', 'This is no name of a variable.');
}
