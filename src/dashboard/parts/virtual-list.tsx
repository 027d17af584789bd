/** A list of which only the rows that can be seen are there. It scrolls with the page. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

interface VirtualListProps<T> {
  readonly label: string;
  readonly rows: readonly T[];
  /** Pixels; every row has it. */
  readonly rowHeight: number;
  readonly keyOf: (row: T) => string;
  readonly render: (row: T) => ComponentChildren;
}

const BEYOND = 8;
/** The first view needs no measure. */
const FIRST = 30;

export function VirtualList<T>({ label, rows, rowHeight, keyOf, render }: VirtualListProps<T>) {
  const list = useRef<HTMLUListElement>(null);
  const [[from, to], setRange] = useState<readonly [number, number]>([0, FIRST]);
  useEffect(() => {
    const look = (): void => {
      const top = list.current?.getBoundingClientRect().top ?? 0;
      const first = Math.max(0, Math.floor(-top / rowHeight) - BEYOND);
      const last = Math.ceil((innerHeight - top) / rowHeight) + BEYOND;
      setRange((before) => (before[0] === first && before[1] === last ? before : [first, last]));
    };
    look();
    addEventListener('scroll', look, { passive: true });
    addEventListener('resize', look);
    return () => {
      removeEventListener('scroll', look);
      removeEventListener('resize', look);
    };
  }, [rowHeight, rows.length]);
  return (
    <ul ref={list} class="virtual" aria-label={label} style={{ height: `${rows.length * rowHeight}px` }}>
      {rows.slice(from, to).map((row, index) => (
        <li
          key={keyOf(row)}
          aria-setsize={rows.length}
          aria-posinset={from + index + 1}
          style={{ height: `${rowHeight}px`, transform: `translateY(${(from + index) * rowHeight}px)` }}
        >
          {render(row)}
        </li>
      ))}
    </ul>
  );
}
