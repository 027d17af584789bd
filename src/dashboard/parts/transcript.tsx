/** What a deploy says, its steps and its failure set off from the rest. */
import { useLayoutEffect, useRef } from 'preact/hooks';

const NEAR = 40;

export function Transcript({ text, label }: { text: string; label: string }) {
  const box = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    if (isAtEnd.current) box.current?.scrollTo(0, box.current.scrollHeight);
  }, [text]);
  const scrolled = (): void => {
    const { scrollHeight = 0, scrollTop = 0, clientHeight = 0 } = box.current ?? {};
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR;
  };
  return (
    <pre ref={box} class="output tall" tabIndex={0} role="log" aria-live="off" aria-label={label} onScroll={scrolled}>
      {text
        .trimEnd()
        .split('\n')
        .map((line) => (
          <span class={kindOf(line)}>{`${line}\n`}</span>
        ))}
    </pre>
  );
}

function kindOf(line: string): string {
  if (line.startsWith('----->')) return 'step';
  return line.startsWith(' !') ? 'failed' : '';
}
