/** What the metrics of all apps say, in the text format of Prometheus. */
const MEMORY = /^tancho_app_memory_bytes\{app="([^"]*)"\} (\S+)$/gm;

/** The largest first; those that use none are left out. The app '' stands for those that are summed up. */
export function memoryByApp(text: string): { readonly app: string; readonly bytes: number }[] {
  return [...text.matchAll(MEMORY)]
    .map(([, app = '', value = '']) => ({ app, bytes: Number(value) }))
    .filter(({ bytes }) => bytes > 0)
    .sort((one, other) => other.bytes - one.bytes);
}
