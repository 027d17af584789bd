import type { PlatformEvent } from '../../domain/audit/events.ts';
import type { HealingReport, HealingOutcome } from '../../domain/healers/healer.ts';
import type { HealerInfo } from '../../domain/healers/healers.ts';
import { Type } from '../schema.ts';
import { shape } from './shape.ts';

/** Objects of one key each (specification section 2): the name, and the address below the base of the API. */
export const healers = shape(Type.Array(Type.Record(Type.String(), Type.String())), (list: readonly HealerInfo[]) =>
  list.map(({ name }) => ({ [name]: `/healers/${name}` })),
);

const treatment = Type.Object({
  target: Type.String(),
  problem: Type.String(),
  outcome: Type.Unsafe<HealingOutcome>({ type: 'string', enum: ['healed', 'left', 'failed'] }),
  action: Type.String(),
});

const report = Type.Object({
  healer: Type.String(),
  started_at: Type.String(),
  finished_at: Type.String(),
  found: Type.Array(treatment),
  answer: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
});

export const healingReport = shape(report, ({ healer, startedAt, finishedAt, found, answer }: HealingReport) => ({
  healer,
  started_at: startedAt,
  finished_at: finishedAt,
  found: [...found],
  answer,
}));

const container = Type.Object({ ID: Type.String() });

const healing = Type.Object({
  ID: Type.String(),
  StartTime: Type.String(),
  EndTime: Type.String(),
  Action: Type.String(),
  FailingContainer: container,
  CreatedContainer: container,
  Successful: Type.Boolean(),
  Error: Type.String(),
  Reason: Type.String(),
});

/** As admins' clients read it: what concerns a unit is the healing of a container. */
export const healings = shape(Type.Array(healing), (list: readonly PlatformEvent[]) =>
  list.map(({ id, at, target, detail, error }) => {
    const unit = target.startsWith('unit:') ? target.slice('unit:'.length) : '';
    return {
      ID: id,
      StartTime: at,
      EndTime: at,
      Action: unit === '' ? `${detail.split(':')[0] ?? ''}-healing` : 'container-healing',
      FailingContainer: { ID: unit },
      CreatedContainer: { ID: error === '' ? unit : '' },
      Successful: error === '',
      Error: error,
      Reason: `${target} ${detail}`,
    };
  }),
);
