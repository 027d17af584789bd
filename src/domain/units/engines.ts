/**
 * The engines of a server, as one provisioner: what is asked of a unit goes to the engine that has it, what is to start to the one that
 * its placement names. Which there are is said by whoever opens the backends.
 */
import { PlatformError } from '../errors.ts';
import type { Placement } from '../pools/placement.ts';
import type { Provisioner } from './provisioner.ts';

export type EngineFacts = Pick<Provisioner, 'description' | 'poolOptions' | 'supports'> & { readonly name: string };

export interface Engines extends Provisioner {
  /** Those that run units on the machine of this control. */
  readonly here: readonly Pick<Provisioner, 'list' | 'stop'>[];
  /** The first is this server's own, where units run whose placement is null. */
  readonly engines: readonly EngineFacts[];
  /** The one that has a unit; the server's own of one that is not known. */
  of(unit: string): EngineFacts;
  /** Throws PlatformError `unavailable` for one that this server has no more. */
  at(placement: Placement | null): EngineFacts;
}

const MAX_VALUE = 253;

/**
 * Where the apps of a pool are to run; null: on the server's own engine, anywhere. A cluster that is named stays named: another engine may become
 * the server's own. Throws `input.invalid`.
 */
export function readPlacement(
  { engines }: Pick<Engines, 'engines'>,
  name: string,
  options: Readonly<Record<string, string>>,
): Placement | null {
  const engine = name === '' ? engines[0] : engines.find((one) => one.name === name);
  if (engine === undefined) {
    throw new PlatformError('input.invalid', `This server has no engine ${JSON.stringify(name.slice(0, MAX_VALUE))}.`, {
      hint: `It has: ${engines.map((one) => one.name).join(', ')}.`,
    });
  }
  for (const [option, value] of Object.entries(options)) checkOption(engine, option, value);
  const isOwn = engine === engines[0] && (name === '' || engine.supports.controls === 'one');
  return isOwn && Object.keys(options).length === 0 ? null : { engine: engine.name, options };
}

function checkOption({ name, poolOptions }: EngineFacts, option: string, value: string): void {
  const known = Object.hasOwn(poolOptions, option) ? poolOptions[option] : undefined;
  if (known === undefined) {
    const all = Object.entries(poolOptions).map(([key, { description }]) => `${key} (${description})`);
    throw new PlatformError(
      'input.invalid',
      `The engine ${name} knows no option ${JSON.stringify(option.slice(0, 63))}.`,
      {
        hint: all.length === 0 ? 'It has none: leave the options out.' : `It has: ${all.join(', ')}.`,
      },
    );
  }
  if (value.length <= MAX_VALUE && known.pattern.test(value)) return;
  throw new PlatformError('input.invalid', `${JSON.stringify(value.slice(0, 63))} cannot be the ${option} of a pool.`, {
    hint: `Give ${known.description}.`,
  });
}
