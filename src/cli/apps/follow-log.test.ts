import { expect, it } from 'vitest';
import { problem, type Reply, startPlatform } from '../../../test/support/scripted-platform.ts';
import { createClient } from '../../client/client.ts';
import { followLog } from './follow-log.ts';

it.each([408, 429, 503])('a followed log goes on after status %d, where it was', async (status) => {
  const line =
    (Message: string): Reply =>
    (_, response) =>
      response.end(`${JSON.stringify([{ Message, Cursor: `after-${Message}` }])}\n`);
  const replies = [line('1'), problem(status, 'too_many_requests', 'Try again in 5 s.'), line('2')];
  const platform = await startPlatform({
    'GET /apps/shop/log': (asked, response) => replies.shift()?.(asked, response),
  });
  const stop = new AbortController();
  const seen: string[] = [];
  const lost: string[] = [];
  const options = { signal: stop.signal, onLost: (why: string) => void lost.push(why) };
  try {
    for await (const batch of followLog(createClient({ baseUrl: platform.url }), 'shop', { lines: 5 }, options)) {
      seen.push(...batch.map(({ Message }) => Message));
      if (seen.length === 2) stop.abort();
    }
    expect({ seen, lost }).toEqual({ seen: ['1', '2'], lost: ['', 'Try again in 5 s.'] });
    expect(platform.lines().at(-1)).toContain('after=after-1');
  } finally {
    await platform.close();
  }
});
