/** Providers of the command line, for tests. */
import { expect } from 'vitest';
import type { CliWorld, Ran } from '../../../test/support/cli-world.ts';

interface Served extends Ran {
  readonly seen: string;
}

/** Runs a provider until it has said that it is ready and `work` is done, then ends it as Ctrl-C does. */
export async function servedDuring(
  world: CliWorld,
  argv: readonly string[],
  work: (out: string) => Promise<void>,
  env: Record<string, string> = {},
): Promise<Served> {
  const stopping = new AbortController();
  let out = '';
  let failure: unknown = null;
  const ran = await world.run(['provider', ...argv, '--listen', '127.0.0.1:0'], {
    env,
    signal: stopping.signal,
    onOut: (text) => {
      const wasReady = isReady(out);
      out += text;
      if (wasReady || !isReady(out)) return;
      work(out)
        .catch((error: unknown) => (failure = error))
        .finally(() => stopping.abort());
    },
  });
  if (failure !== null) throw failure;
  return { ...ran, seen: out };
}

function isReady(out: string): boolean {
  return out.includes('Ctrl-C stops') || out.trimEnd().endsWith('}');
}

export function said(out: string, label: string): string {
  return new RegExp(`^${label}: +(\\S+)`, 'm').exec(out)?.[1] ?? '';
}

/** Checks the provider that says this with the command that the guide names. */
export async function checkedProvider(world: CliWorld, out: string): Promise<void> {
  const argv = ['provider', 'check', said(out, 'Address'), '--username', said(out, 'Username')];
  const ran = await world.run(argv, { env: { TANCHO_PROVIDER_PASSWORD: said(out, 'Password') } });
  expect(ran.out).toContain('The contract holds: ');
  expect({ code: ran.code, err: ran.err }).toEqual({ code: 0, err: '' });
}
