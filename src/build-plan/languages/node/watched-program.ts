/** The program that a script for development runs again at every change: `nodemon -L src/index.js` is about src/index.js. */
const MAX_SCRIPT = 1_000;
const BEFORE = /^(?:npx|cross-env|[A-Z_]+=\S*)$/;
const PROGRAM = /^[\w@./-]+\.(?:[cm]?js|[cm]?ts)$/;
/** What watches -> whether its words say so, and what runs the program without watching. */
const WATCHING: Readonly<Record<string, { readonly asks: RegExp | null; readonly runner: string }>> = {
  nodemon: { asks: null, runner: 'node' },
  node: { asks: /^--watch(?:-path=.*)?$/, runner: 'node' },
  tsx: { asks: /^(?:watch|--watch)$/, runner: 'tsx' },
};

interface WatchedProgram {
  readonly file: string;
  /** Runs it once. */
  readonly command: string;
}

export function watchedProgram(script: string): WatchedProgram | null {
  // Quotes, variables and several commands are for a shell to read.
  if (script.length > MAX_SCRIPT || /[;&|<>$`'"\\()]/.test(script)) return null;
  const words = script.trim().split(/\s+/);
  const [name = '', ...args] = words.slice(words.findIndex((word) => !BEFORE.test(word)));
  const watching = Object.hasOwn(WATCHING, name) ? WATCHING[name] : undefined;
  if (watching === undefined || args.some((word) => /^(?:-x|--exec\b)/.test(word))) return null;
  if (watching.asks !== null && !args.some((word) => watching.asks?.test(word))) return null;
  const files = args.filter((word) => PROGRAM.test(word));
  const [file] = files;
  // One program, and nothing behind it that could be for it.
  if (file === undefined || files.length > 1 || args.at(-1) !== file) return null;
  if (watching.runner === 'node' && /ts$/.test(file)) return null;
  return { file, command: `${watching.runner} ${file}` };
}
