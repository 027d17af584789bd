/** What happened, in lanes above one axis of time. Everything in it leads somewhere; for those who do not see it, a table says the same. */
import { exact, plural } from '../data/format.ts';
import { type Happening, LANES, type LogBar } from '../data/happenings.ts';
import { placeIn, type TimeRange } from '../data/time-range.ts';
import { BASE } from '../routing/location.ts';

interface LanesProps {
  readonly range: TimeRange;
  readonly happenings: readonly Happening[];
  readonly bars: readonly LogBar[];
  /** Address of the log of a bar. */
  readonly logOf: (bar: LogBar) => string;
}

const percent = (part: number): string => `${(Math.min(1, Math.max(0, part)) * 100).toFixed(3)}%`;

export function Lanes({ range, happenings, bars, logOf }: LanesProps) {
  const most = Math.max(1, ...bars.map(({ lines }) => lines));
  return (
    <div class="lanes" aria-hidden="true">
      {LANES.map((lane) => (
        <div key={lane} class="lane">
          <span class="muted small">{lane}</span>
          <div class="track">
            {happenings
              .filter((one) => one.lane === lane)
              .map(({ key, atMs, label, mood, to }) => (
                <a
                  key={key}
                  class={`mark ${mood}`}
                  href={BASE + to}
                  tabIndex={-1}
                  title={`${clock(atMs)} ${label}`}
                  style={{ left: percent(placeIn(range, atMs)) }}
                />
              ))}
          </div>
        </div>
      ))}
      <div class="lane">
        <span class="muted small">Log</span>
        <div class="track tall">
          {bars.map((bar) => {
            const left = Math.max(0, placeIn(range, bar.fromMs));
            return (
              <a
                key={bar.fromMs}
                class="bar"
                href={BASE + logOf(bar)}
                tabIndex={-1}
                title={`${clock(bar.fromMs)} ${plural(bar.lines, 'line')}`}
                style={{
                  left: percent(left),
                  width: percent(Math.min(1, placeIn(range, bar.toMs)) - left),
                  height: percent(0.12 + (0.88 * Math.log1p(bar.lines)) / Math.log1p(most)),
                }}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

function clock(atMs: number): string {
  return exact(new Date(atMs).toISOString());
}
