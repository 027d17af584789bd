/** What people do on every screen: fill in forms, answer questions, look for a row. */
import type { Locator, Page } from 'playwright-core';

/** Opens the form behind a button, fills it in and sends it. */
export async function fill(
  page: Page,
  button: string,
  values: Readonly<Record<string, string>>,
  action: string,
): Promise<void> {
  await page.getByRole('button', { name: button, exact: true }).first().click();
  const dialog = page.getByRole('dialog');
  for (const [label, value] of Object.entries(values)) await dialog.getByLabel(label, { exact: true }).fill(value);
  await dialog.getByRole('button', { name: action, exact: true }).click();
}

/** Clicks, and says that one is sure. */
export async function surely(page: Page, button: string, action: string, typed = ''): Promise<void> {
  await page.getByRole('button', { name: button, exact: true }).click();
  const dialog = page.getByRole('dialog');
  if (typed !== '') await dialog.getByRole('textbox').fill(typed);
  await dialog.getByRole('button', { name: action, exact: true }).click();
}

export const row = (page: Page, name: string | RegExp): Locator => page.getByRole('row', { name });
