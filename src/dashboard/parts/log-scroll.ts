/** Where somebody is in a log: at its end, or at lines that stay in sight while others come and go around them. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { LogStream } from '../data/log-stream.ts';
import { attempt } from './toasts.tsx';

/** Pixels of one line. */
export const ROW = 20;
/** So near to the end counts as the end. */
const NEAR = 30;
/** Older lines are asked for before the first one is reached, and newer ones before the last. */
const TOP = 200;

export interface LogScrollProps {
  readonly stream: LogStream;
  readonly isFollowing: boolean;
  readonly onFollow: (isFollowing: boolean) => void;
}

export function useLogScroll({ stream, isFollowing, onFollow }: LogScrollProps) {
  const box = useRef<HTMLDivElement>(null);
  const [, redraw] = useState(0);
  /** Counted from the first line that was ever held. */
  const [chosen, setChosen] = useState<number | null>(null);
  const { buffer } = stream;
  const version = stream.version.value;
  const dropped = useRef(buffer.dropped);
  /** Where this code has scrolled to: the event that reports it is not the reader's doing. */
  const movedTo = useRef<number | null>(null);
  const current = chosen === null || chosen < buffer.dropped ? null : chosen - buffer.dropped;

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const moved = buffer.dropped - dropped.current;
    dropped.current = buffer.dropped;
    const top = isFollowing ? element.scrollHeight : element.scrollTop - moved * ROW;
    if (!isFollowing && moved === 0) return;
    element.scrollTop = top;
    movedTo.current = element.scrollTop;
    redraw((count) => count + 1);
  }, [version, isFollowing]);

  useEffect(() => {
    const observer = new ResizeObserver(() => redraw((count) => count + 1));
    if (box.current !== null) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);

  const reached = (element: HTMLElement, mayFollow: boolean): void => {
    const below = element.scrollHeight - element.scrollTop - element.clientHeight;
    if (stream.state.value === 'behind') {
      if (below < TOP) void attempt(() => stream.loadNewer());
    } else if (mayFollow && below < NEAR !== isFollowing) onFollow(below < NEAR);
    if (element.scrollTop < TOP) void attempt(() => stream.loadOlder());
  };

  const onScroll = (): void => {
    const element = box.current;
    if (element === null) return;
    redraw((count) => count + 1);
    const isOurs = movedTo.current === element.scrollTop;
    movedTo.current = null;
    if (!isOurs) reached(element, true);
  };

  const choose = (index: number): void => setChosen(index + buffer.dropped);

  /** To the line after or before the chosen one; at first, to the last one in sight. */
  const step = (by: number): void => {
    const element = box.current;
    if (element === null || buffer.length === 0) return;
    const last = Math.floor((element.scrollTop + element.clientHeight) / ROW) - 1;
    const next = Math.min(Math.max((current ?? last + 1) + by, 0), buffer.length - 1);
    choose(next);
    if (isFollowing) onFollow(false);
    const [top, bottom] = [next * ROW, (next + 1) * ROW];
    if (top < element.scrollTop) element.scrollTop = top;
    else if (bottom > element.scrollTop + element.clientHeight) element.scrollTop = bottom - element.clientHeight;
    movedTo.current = element.scrollTop;
    reached(element, false);
  };

  return { box, current, choose, step, onScroll };
}
