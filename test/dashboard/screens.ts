/** Every screen of the dashboard, and what it shows of the populated platform. */
import type { Populated } from './populated.ts';

const SCREENS: Readonly<Record<string, RegExp>> = {
  '/': /shop/,
  '/new': /Platform/,
  '/apps/shop': /Processes and units/,
  '/apps/fresh': /Waiting for the first push/,
  '/apps/nobody': /not found/i,
  '/apps/shop/log': /Live/,
  '/apps/shop/deploys': /v1/,
  '/apps/shop/releases': /What changed/,
  '/apps/fresh/releases': /no release yet/i,
  '/apps/shop/env': /CANARY/,
  '/apps/shop/timeline': /One by one/,
  '/apps/shop/terminal': /Open a shell/,
  '/apps/fresh/terminal': /Nothing was deployed yet/,
  '/apps/shop/settings': /Unmount/,
  '/deploys': /v1/,
  '/services': /kept/,
  '/services/canaries': /Plans/,
  '/services/nothing': /not found/i,
  '/instances/kept': /Provider says/,
  '/instances/nothing': /not found/i,
  '/teams': /admin@example.com/,
  '/users': /admin@example.com/,
  '/account': /laptop/,
  '/certificates': /www\.example\.com/,
  '/drains': /drain\.example/,
  '/webhooks': /hook\.example/,
  '/webhooks/nothing': /no webhook/i,
  '/registries': /registry\.example/,
  '/pools': /default/,
  '/plans': /Memory/,
  '/platforms': /nodejs/,
  '/healers': /Name/,
  '/alerts': /app_down/,
  '/backups': /^1 backup/,
  '/why': /host name/,
  '/why?address=shop.nowhere.example': /From the visitor/,
  '/audit': /app\.create/,
  '/health': /edge/,
  '/no/such/screen': /nothing at this address/,
};

/** Those whose address is known only now, too. */
export function screens({ ids: { deploy, failed, event, webhook } }: Populated): Readonly<Record<string, RegExp>> {
  return {
    ...SCREENS,
    [`/apps/shop/deploys/${deploy}`]: /serves at/,
    [`/apps/shop/deploys/${failed}`]: /^Failed:/,
    [`/audit/${event}`]: /About this event/,
    [`/webhooks/${webhook}`]: /webhook\.test/,
  };
}
