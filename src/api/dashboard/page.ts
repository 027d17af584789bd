/** The one page of the dashboard. Everything else is made in the browser, by its modules. */
import { createHash } from 'node:crypto';
import { BEGIN, type DashboardFiles, ENTRY, STYLE } from './files.ts';

export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-cache',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
};

/** `scriptHash`: of the import map, which has no other way to be allowed. */
export function policyOf(scriptHash: string): string {
  return [
    "default-src 'none'",
    `script-src 'self' '${scriptHash}'`,
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

export function page({ hash, imports, first }: DashboardFiles): { text: string; scriptHash: string } {
  const at = (name: string): string => `/dashboard/files/${hash}/${name}`;
  const map = JSON.stringify({
    imports: Object.fromEntries(Object.entries(imports).map(([name, file]) => [name, at(file)])),
  });
  const text = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Tancho</title>
<link rel="icon" href="${at('style/icon.svg')}">
<link rel="stylesheet" href="${at(STYLE)}">
<script type="importmap">${map}</script>
<script type="module" async src="${at(BEGIN)}"></script>
${first.map((name) => `<link rel="modulepreload" href="${at(name)}">`).join('\n')}
<script type="module" src="${at(ENTRY)}"></script>
</head>
<body>
<div id="app">
<main class="waiting">
<h1 class="unseen">Tancho</h1>
<p class="soon">Loading …</p>
<p class="late">The dashboard does not come. <a href="">Load it again</a></p>
</main>
</div>
<noscript>The dashboard needs JavaScript. The command line does all the same: see <code>tancho --help</code>.</noscript>
</body>
</html>
`;
  return { text, scriptHash: `sha256-${createHash('sha256').update(map).digest('base64')}` };
}
