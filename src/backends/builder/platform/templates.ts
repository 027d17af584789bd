/** Replaces `{name}`; names were checked when the platform was read. */
export function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{([a-z][a-z0-9-]*)\}/g, (whole, name: string) => values[name] ?? whole);
}

export function fillAll(templates: readonly string[], values: Readonly<Record<string, string>>): string[] {
  return templates.map((template) => fill(template, values));
}
