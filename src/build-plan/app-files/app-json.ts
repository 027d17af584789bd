/** app.json, as other platforms know it: how many units processes have, and what of it is not done here. */
import type { ProcessSettings } from '../../domain/deploys/builder.ts';
import type { NewVariable } from '../build-plan.ts';
import { isRecord } from '../../lib/is-record.ts';
import { MAX_COUNT } from './process-entry.ts';

interface AppJson {
  readonly settings: Readonly<Record<string, ProcessSettings>>;
  /** Set with the app's first release. */
  readonly variables: readonly NewVariable[];
  readonly notes: readonly string[];
}

const KEYS = ['formation', 'env', 'scripts', 'cron', 'buildpacks'];
const MAX_NAMED = 20;
const MAX_ENTRIES = 1_000;

/** It is no file of another program's. */
export function hasKnownKey(content: unknown): boolean {
  return isRecord(content) && KEYS.some((key) => Object.hasOwn(content, key));
}

/** Pure. Other programs have files of this name, too: what does not look like this one is not looked at. */
export function readAppJson(content: unknown): AppJson {
  const { formation, env, scripts, cron } = isRecord(content) ? content : {};
  const settings: Record<string, ProcessSettings> = {};
  for (const [process, entry] of entriesOf(formation)) {
    const count = isRecord(entry) ? entry['quantity'] : undefined;
    if (Number.isInteger(count) && Number(count) >= 0 && Number(count) <= MAX_COUNT)
      settings[process] = { count: Number(count) };
  }
  const notes: string[] = [];
  const { variables, needed } = variablesOf(entriesOf(env));
  if (needed.length > 0)
    notes.push(
      `app.json: the app needs variables that only you can set (${needed.join(', ')}): tancho env set NAME=value`,
    );
  if (isRecord(scripts) && typeof scripts['postdeploy'] === 'string')
    notes.push(
      'app.json: scripts.postdeploy is not run; what is to run once per new version is "release" in the Procfile',
    );
  if (Array.isArray(cron) && cron.length > 0)
    notes.push(
      'app.json: cron is not run here; a process of the app can do it, or a clock elsewhere with tancho app run',
    );
  return { settings, variables, notes };
}

/** Of one with very many the first. */
function entriesOf(value: unknown): [string, unknown][] {
  return isRecord(value) ? Object.entries(value).slice(0, MAX_ENTRIES) : [];
}

/** `"A": "text"`, `{ "value": "text" }`, `{ "generator": "secret" }`; required is what is not said not to be. */
function variablesOf(env: readonly [string, unknown][]): { variables: NewVariable[]; needed: string[] } {
  const variables: NewVariable[] = [];
  const needed: string[] = [];
  for (const [name, entry] of env) {
    const { value, generator, required } = isRecord(entry) ? entry : { value: entry };
    const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
    const wanted = { name, from: 'app.json', when: 'first' } as const;
    if (generator === 'secret') variables.push({ ...wanted, value: { generated: 'hex' } });
    else if (typeof text === 'string') variables.push({ ...wanted, value: text });
    else if (required !== false && needed.length < MAX_NAMED) needed.push(name);
  }
  return { variables, needed };
}
