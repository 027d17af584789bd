/** A terminal in the page. xterm is loaded when the first one is shown. */
import type { ITheme, Terminal as Xterm } from '@xterm/xterm';
import { useEffect, useRef } from 'preact/hooks';
import { isDark } from '../theme.ts';
import { allowTerminalStyles } from './terminal-styles.ts';
import { notifyProblem } from './toasts.tsx';

interface TerminalProps {
  readonly label: string;
  /** Called once, when it is there; the answer when it goes. */
  readonly onReady: (terminal: Xterm) => () => void;
  /** False: it shows only. */
  readonly isTyped?: boolean;
}

const SCROLLBACK_LINES = 10_000;
/** A colour that cannot be read on this background is changed until it can. */
const CONTRAST = 4.5;

export function Terminal({ label, onReady, isTyped = true }: TerminalProps) {
  const box = useRef<HTMLDivElement>(null);
  const terminal = useRef<Xterm | null>(null);
  const dark = isDark.value;
  useEffect(() => {
    if (terminal.current !== null && box.current !== null) terminal.current.options.theme = themeOf(box.current);
  }, [dark]);
  useEffect(() => {
    let close = (): void => {};
    let isGone = false;
    void open(box, label, isTyped).then((opened) => {
      if (opened === null) return;
      if (isGone) return opened.close();
      terminal.current = opened.terminal;
      const left = onReady(opened.terminal);
      close = () => {
        left();
        opened.close();
      };
    }, notifyProblem);
    return () => {
      isGone = true;
      terminal.current = null;
      close();
    };
  }, []);
  return <div ref={box} class="terminal-box" role="group" aria-label={label} />;
}

interface Opened {
  readonly terminal: Xterm;
  close(): void;
}

async function open(
  box: { readonly current: HTMLDivElement | null },
  label: string,
  isTyped: boolean,
): Promise<Opened | null> {
  const [{ Terminal: Made }, { FitAddon }] = await Promise.all([
    import('@xterm/xterm'),
    import('@xterm/addon-fit'),
    styleSheet(),
  ]);
  const element = box.current;
  if (element === null) return null;
  allowTerminalStyles();
  const terminal = new Made({
    scrollback: SCROLLBACK_LINES,
    minimumContrastRatio: CONTRAST,
    disableStdin: !isTyped,
    convertEol: !isTyped,
    cursorBlink: false,
    fontSize: 13,
    fontFamily: getComputedStyle(document.documentElement).getPropertyValue('--mono'),
    theme: themeOf(element),
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  terminal.open(element);
  terminal.textarea?.setAttribute('aria-label', label);
  const observer = new ResizeObserver(() => fit.fit());
  observer.observe(element);
  fit.fit();
  return {
    terminal,
    close() {
      observer.disconnect();
      terminal.dispose();
    },
  };
}

/** As the style sheet colours its surroundings. */
function themeOf(element: Element): ITheme {
  const { color, backgroundColor } = getComputedStyle(element);
  return { background: backgroundColor, foreground: color, cursor: color, cursorAccent: backgroundColor };
}

/** Resolves when that of xterm counts; it lies beside its module. */
function styleSheet(): Promise<unknown> {
  const href = new URL('../css/xterm.css', import.meta.resolve('@xterm/xterm')).href;
  const known = document.querySelector(`link[href="${href}"]`);
  if (known !== null) return Promise.resolve();
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = href;
  return new Promise((resolve, reject) => {
    link.addEventListener('load', resolve);
    link.addEventListener('error', () => reject(new TypeError('the style sheet of the terminal')));
    document.head.append(link);
  });
}
