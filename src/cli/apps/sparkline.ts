/** Numbers as a line of little bars. */
const BARS = '▁▂▃▄▅▆▇█';

/** From 0 to the greatest; all of them flat where that is 0. */
export function sparkline(values: readonly number[]): string {
  const most = Math.max(0, ...values);
  return values
    .map((value) => BARS[most === 0 ? 0 : Math.round((Math.max(0, value) / most) * (BARS.length - 1))] ?? '')
    .join('');
}

/** At most `columns` of them: neighbours become one, their mean, their sum, or the greatest of them. */
export function squeezed(values: readonly number[], columns: number, by: 'mean' | 'sum' | 'most'): number[] {
  const size = Math.ceil(values.length / columns);
  return Array.from({ length: size === 0 ? 0 : Math.ceil(values.length / size) }, (_, column) => {
    const part = values.slice(column * size, (column + 1) * size);
    if (by === 'most') return Math.max(...part);
    const sum = part.reduce((total, value) => total + value, 0);
    return by === 'sum' ? sum : sum / part.length;
  });
}
