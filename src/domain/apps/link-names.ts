/** Pure: what an app is called by the apps that are linked to it. */

/** `shop` -> `shop.internal`; no name of the internet ends so. */
export function linkHost(app: string): string {
  return `${app}.internal`;
}

/** The variable that holds its URL: `shop-api` -> `SHOP_API_URL`. */
export function linkVariable(app: string): string {
  return `${app.toUpperCase().replaceAll('-', '_')}_URL`;
}
