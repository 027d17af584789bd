/** Path with every part encoded: path`/apps/${name}/env`. */
export function path(parts: TemplateStringsArray, ...names: readonly string[]): string {
  return parts
    .map((part, index) => part + (index < names.length ? encodeURIComponent(names[index] ?? '') : ''))
    .join('');
}
