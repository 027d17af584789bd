/** A private value, printed in every form and cut in every way, is in no log, answer or report of the platform. */
import { expect, it } from 'vitest';
import { archive, deployArchive } from '../support/archives.ts';
import { nodeApp } from '../support/git.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from '../support/world.ts';

const CANARY = 'C4n4ry&"<of>/+ é§ the-one-that-must-not-be-shown';
/** So much of it in a row is a leak. */
const PIECE = 8;

const HTML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

const FORMS: Readonly<Record<string, string>> = {
  plain: CANARY,
  base64: Buffer.from(CANARY).toString('base64'),
  base64after1: Buffer.from(`x${CANARY}`).toString('base64'),
  base64after2: Buffer.from(`xy${CANARY}`).toString('base64'),
  base64url: Buffer.from(CANARY).toString('base64url'),
  hex: Buffer.from(CANARY).toString('hex'),
  url: encodeURIComponent(CANARY),
  form: new URLSearchParams([['', CANARY]]).toString().slice(1),
  html: CANARY.replace(/[&<>"']/g, (character) => HTML[character] ?? ''),
  json: JSON.stringify(CANARY).slice(1, -1),
  jsonInJson: JSON.stringify(JSON.stringify(CANARY).slice(1, -1)).slice(1, -1),
};

/** Base64 of itself, so that nothing of a form is in the code. */
const SERVER = `
const { writeSync } = require('node:fs');
const forms = JSON.parse(Buffer.from('${Buffer.from(JSON.stringify(FORMS)).toString('base64')}', 'base64'));
const printed = (text) => writeSync(1, text + '\\n');
let rest = '';
const ways = {
  whole: (text) => printed('<' + text + '>'),
  // Until the first half has been seen in the log nobody knows that there is a second one.
  paused: (text, half) => { writeSync(1, '<' + text.slice(0, half)); rest = text.slice(half) + '>'; },
  rest: () => printed(rest),
  // The cut of long lines goes through the middle of it.
  long: (text, half) => printed('<' + '-'.repeat(16384 - half - 1) + text + '>'),
};
require('node:http').createServer((request, response) => {
  const [, way, name, mark] = request.url.split('/');
  const text = forms[name] ?? '';
  ways[way]?.(text, text.length >> 1);
  if (mark) printed(mark);
  response.end('ok');
}).listen(process.env.PORT);
process.on('SIGTERM', () => { for (const text of Object.values(forms)) printed('last ' + text); process.exit(3); });
`;

/** What a person is shown. */
async function log(world: World): Promise<string> {
  const shown = await world.cli(['app', 'log', '-a', 'shop', '--lines', '400']);
  expect(shown.code, shown.stderr).toBe(0);
  return shown.stdout;
}

async function answered(world: World, token: string): Promise<string> {
  const answer = await world.api('GET', '/apps/shop/log?lines=400', { token });
  expect(answer.status, answer.text).toBe(200);
  return answer.text;
}

async function untilLogged(world: World, token: string, mark: string): Promise<void> {
  await until(async () => (await answered(world, token)).includes(mark), { what: `${mark} in the log` });
}

function leaks(text: string): string[] {
  const pieces = Object.values(FORMS).flatMap((form) =>
    Array.from({ length: form.length - PIECE + 1 }, (_, at) => form.slice(at, at + PIECE)),
  );
  return [...new Set(pieces.filter((piece) => text.includes(piece)))];
}

it('whatever an app does with it', async () => {
  const world = await startWorld();
  try {
    const token = await world.login();
    const made = await world.api('POST', '/apps', {
      token,
      body: JSON.stringify({ name: 'shop', platform: 'nodejs' }),
    });
    expect(made.status, made.text).toBe(200);
    const set = await world.cli(['env', 'set', '--private', `CANARY=${CANARY}`, '-a', 'shop']);
    expect([set.code, set.stderr]).toEqual([0, '']);
    const code = await archive({ ...nodeApp(''), 'server.js': SERVER });
    expect(await deployArchive(world, token, 'shop', code)).toMatch(/\nOK\n$/);
    let marks = 0;
    for (const name of Object.keys(FORMS)) {
      await world.fetchApp('shop', `/whole/${name}/mark-${++marks}-`);
      await world.fetchApp('shop', `/long/${name}/mark-${++marks}-`);
      await untilLogged(world, token, `mark-${marks}-`);
      const before = (await answered(world, token)).split('<').length;
      await world.fetchApp('shop', `/paused/${name}`);
      await until(async () => (await answered(world, token)).split('<').length > before, {
        what: `the first half as ${name}`,
      });
      await world.fetchApp('shop', `/rest/${name}/mark-${++marks}-`);
      await untilLogged(world, token, `mark-${marks}-`);
    }
    const restarted = await world.cli(['app', 'restart', '-a', 'shop']);
    expect(restarted.code, restarted.stderr).toBe(0);
    await untilLogged(world, token, 'last ***');
    const shown = [
      await log(world),
      await answered(world, token),
      (await world.cli(['app', 'info', '-a', 'shop'])).stdout,
      (await world.cli(['event', 'list'])).stdout,
    ];
    for (const text of shown) expect(leaks(text)).toEqual([]);
    // What was printed around it is there.
    expect(shown[0]?.match(/mark-\d+-/g)).toHaveLength(marks);
  } finally {
    await world.dispose();
  }
});
