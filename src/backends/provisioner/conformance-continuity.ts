/** Cases of the provisioner's suite: output, restarts of control and one-off commands. */
import { expect } from 'vitest';
import type { OutputChunk, SeenUnit } from '../../domain/units/provisioner.ts';
import { failureOf, get, NEVER, SERVES } from './conformance-suite.ts';
import type { Suite } from './conformance-suite.ts';

/** Output, whoever reads it and when. */
export function outputCases(s: Suite): void {
  s.test('reads output after any cursor without gap or repetition', async () => {
    const unit = s.spec(s.world.commands.printAndStay, { listens: false });
    await s.provisioner.ensure(unit);
    const first = await s.readUntil(unit.id, 'three');
    expect(first.lines).toEqual(['one', 'two', 'three']);
    await s.provisioner.stop(unit.id, 1_000);
    expect((await s.readAll(unit.id, first.cursor)).lines).toEqual([]);
    expect((await s.readAll(unit.id)).lines).toEqual(['one', 'two', 'three']);
    expect(await s.provisioner.lastLines(unit.id, 2)).toEqual(['two', 'three']);
  });

  s.testLong(
    'goes on after each cursor that it has given, also for a later control, and its times never go back',
    async () => {
      const unit = s.spec(s.world.commands.printMuch, { listens: false });
      const handle = await s.provisioner.ensure(unit);
      const chunks: OutputChunk[] = [];
      for await (const chunk of s.provisioner.output(unit.id, null, NEVER)) {
        chunks.push(chunk);
        if (chunk.lines.at(-1)?.text === 'last') break;
      }
      const all = chunks.flatMap(({ lines }) => lines);
      const times = all.map(({ at }) => at);
      expect(times).toEqual([...times].sort());
      expect(new Date(times[0] ?? '').toISOString()).toBe(times[0]);
      await s.restart();
      await s.provisioner.recover(new Map([[unit.id, handle]]));
      for (const at of new Set([0, chunks.length >> 1, chunks.length - 1])) {
        const cursor = chunks[at]?.cursor ?? '';
        expect(cursor.length).toBeLessThanOrEqual(200);
        const rest = chunks.slice(at + 1).flatMap(({ lines }) => lines.map(({ text }) => text));
        if (rest.length > 0) expect((await s.readUntil(unit.id, 'last', cursor)).lines).toEqual(rest);
      }
      const cursor = chunks.at(-1)?.cursor ?? null;
      await s.provisioner.stop(unit.id, 1_000);
      expect((await s.readAll(unit.id, cursor)).lines).toEqual([]);
    },
  );

  s.testLong('gives up output that cannot be stored, and counts it, also for who comes later', async () => {
    const unit = s.spec(s.world.commands.printMuch, { listens: false });
    await s.provisioner.ensure(unit);
    const { lines: all } = await s.readUntil(unit.id, 'last');
    expect(await s.provisioner.giveUp('cccccccccccc', null)).toBe(false);
    const isGivenUp = await s.provisioner.giveUp(unit.id, null);
    expect(await s.provisioner.giveUp(unit.id, null)).toBe(false);
    await s.restart();
    await s.provisioner.recover(new Map([[unit.id, '']]));
    const next = await s.firstChunk(unit.id);
    const { lines: rest } = await s.readUntil(unit.id, 'last', next.cursor);
    const missing = next.missing ?? { lines: 0, bytes: 0 };
    expect(missing.lines).toBe(all.length - next.lines.length - rest.length);
    // Where files can have no holes nothing is gained by it.
    expect(missing.bytes > 1024 * 1024).toBe(isGivenUp);
    expect([...next.lines.map(({ text }) => text), ...rest]).toEqual(all.slice(missing.lines ?? 0));
  });

  s.test('takes room for what units print, once and again, without a change of what they have printed', async () => {
    const unit = s.spec(s.world.commands.printAndStay, { listens: false });
    await s.provisioner.ensure(unit);
    await s.provisioner.holdOutput();
    await s.readUntil(unit.id, 'three');
    await s.provisioner.holdOutput();
    await s.provisioner.stop(unit.id, 1_000);
    expect((await s.readAll(unit.id)).lines).toEqual(['one', 'two', 'three']);
  });

  s.test('follows output as it is written, and stops when asked to', async () => {
    const { unit, address } = await s.startServing();
    const stop = new AbortController();
    const seen: string[] = [];
    const reading = (async () => {
      for await (const { lines } of s.provisioner.output(unit.id, null, stop.signal))
        seen.push(...lines.map((line) => line.text));
    })();
    await expect.poll(() => seen).toContain('listening');
    await get(address, '/say?it-again');
    await expect.poll(() => seen, { interval: 5 }).toContain('it-again');
    stop.abort();
    await reading;
  });
}

/** What a restart of control must not change. */
export function restartCases(s: Suite): void {
  s.test('finds its units again after a restart, and goes on as if it had started them', async () => {
    const { unit, address } = await s.startServing();
    const handle = await s.provisioner.ensure(unit);
    const { cursor } = await s.readUntil(unit.id, 'listening');
    await s.restart();
    s.listen();
    expect(await s.provisioner.recover(new Map([[unit.id, handle]]))).toEqual(new Set([unit.id]));
    expect(await s.provisioner.ready(unit.id, SERVES, NEVER)).toEqual(address);
    await get(address, '/say?still-here');
    expect((await s.readUntil(unit.id, 'still-here', cursor)).lines).toEqual(['still-here']);
    await get(address, '/crash').catch(() => undefined);
    await expect.poll(() => s.exits.map(({ id }) => id)).toEqual([unit.id]);
  });

  s.test(
    'reports a death that nobody saw, once',
    async () => {
      const { unit } = await s.startServing();
      const handle = await s.provisioner.ensure(unit);
      await s.provisioner.close();
      await s.world.killBehind(unit.id);
      await s.restart();
      s.listen();
      expect(await s.provisioner.recover(new Map([[unit.id, handle]]))).toEqual(new Set());
      await expect.poll(() => s.exits.map(({ id }) => id)).toEqual([unit.id]);
      await s.restart();
      s.listen();
      await s.provisioner.recover(new Map([[unit.id, handle]]));
      expect(s.exits).toHaveLength(1);
      expect(await s.provisioner.comebacks(new Set([unit.id]))).toEqual([]);
    },
    s.restarts === 'platform' || 'this engine has started it again',
  );

  s.testLong('leaves units alone that the caller does not know', async () => {
    const { unit, address } = await s.startServing();
    await s.restart();
    expect(await s.provisioner.recover(new Map([['dddddddddddd', 'x']]))).toEqual(new Set());
    expect(await s.provisioner.list()).toEqual([
      expect.objectContaining({ id: unit.id, app: 'shop', state: 'running' }) as SeenUnit,
    ]);
    expect((await get(address, '/')).status).toBe(200);
  });
}

/** Who starts units again, as `supports` says. */
export function comebackCases(s: Suite): void {
  const [ofPlatform, ofEngine] = [
    s.restarts === 'platform' || 'this engine starts units again by itself',
    s.restarts === 'engine' || 'this engine leaves restarts to the platform',
  ];
  const running = async () => (await s.provisioner.list()).map(({ state }) => state === 'running');

  s.test('says who starts units again', async () => {
    expect(s.provisioner.supports.restarts).toBe(s.restarts);
  });

  s.test(
    'leaves dead what has ended, until it is ensured again',
    async () => {
      const { unit, address } = await s.startServing();
      await get(address, '/crash').catch(() => undefined);
      await expect.poll(() => s.exits.length).toBe(1);
      expect(await running()).toEqual([false]);
      await s.restart();
      s.listen();
      expect(await s.provisioner.recover(new Map([[unit.id, '']]))).toEqual(new Set());
      expect(await running()).toEqual([false]);
      await s.startServing();
      expect(await running()).toEqual([true]);
    },
    ofPlatform,
  );

  s.test(
    'starts again by itself what has ended, reports it once, and its next life can be waited for',
    async () => {
      const { unit, address } = await s.startServing();
      const stop = new AbortController();
      const printed: string[] = [];
      const reading = (async () => {
        for await (const { lines } of s.provisioner.output(unit.id, null, stop.signal))
          printed.push(...lines.map(({ text }) => text));
      })();
      for (const n of [1, 2]) {
        const now = n === 1 ? address : await s.provisioner.ready(unit.id, SERVES, NEVER);
        await get(now ?? address, '/crash').catch(() => undefined);
        await expect.poll(() => s.exits.length).toBe(n);
      }
      const handle = await s.provisioner.ensure(unit);
      const next = await s.provisioner.ready(unit.id, SERVES, NEVER);
      expect((await get(next ?? address, '/')).status).toBe(200);
      expect(await s.provisioner.ensure(unit)).toBe(handle);
      expect(s.exits.map(({ id, code }) => [id, code])).toEqual([
        [unit.id, 7],
        [unit.id, 7],
      ]);
      await expect.poll(() => printed).toEqual(['listening', 'listening', 'listening']);
      stop.abort();
      await reading;
      expect(await s.provisioner.lastLines(unit.id, 2)).toEqual(['listening', 'listening']);
    },
    ofEngine,
  );

  s.test(
    'does not start again what was stopped, also not what ended just before',
    async () => {
      const { unit, address } = await s.startServing();
      await get(address, '/crash').catch(() => undefined);
      await expect.poll(() => s.exits.length).toBe(1);
      await s.provisioner.stop(unit.id, 5_000);
      expect(await running()).toEqual([false]);
      await s.restart();
      expect(await s.provisioner.recover(new Map([[unit.id, '']]))).toEqual(new Set());
      expect((await failureOf(s.provisioner.ready(unit.id, SERVES, NEVER))).code).toBe('exited');
      const again = await s.startServing();
      expect((await get(again.address, '/')).status).toBe(200);
    },
    ofEngine,
  );

  s.test(
    'reports what has come back while control was away, and where it is, once, and not as an exit',
    async () => {
      const { unit, address } = await s.startServing();
      const handle = await s.provisioner.ensure(unit);
      await s.provisioner.close();
      await s.world.killBehind(unit.id);
      let seen = new Set<string>();
      await expect
        .poll(async () => {
          await s.restart();
          s.listen();
          seen = await s.provisioner.recover(new Map([[unit.id, handle]]));
          return [seen.size, s.exits.length];
        })
        .not.toEqual([0, 0]);
      expect(await s.provisioner.comebacks(new Set(['dddddddddddd']))).toEqual([]);
      const [comeback, ...others] = await s.provisioner.comebacks(new Set([unit.id]));
      expect(others).toEqual([]);
      const next = await s.provisioner.ready(unit.id, SERVES, NEVER);
      expect((await get(next ?? address, '/')).status).toBe(200);
      if (comeback === undefined) expect(s.exits).toHaveLength(1);
      else {
        expect([comeback.id, comeback.exits.length, s.exits.length]).toEqual([unit.id, 1, 0]);
        expect(Date.parse(comeback.exits[0]?.at ?? '')).toBeLessThanOrEqual(Date.now());
        if (comeback.address !== null) expect(comeback.address).toEqual(next);
        await s.provisioner.comebackNoted?.(unit.id);
      }
      expect(await s.provisioner.comebacks(new Set([unit.id]))).toEqual([]);
    },
    ofEngine,
  );
}

/** One-off commands. */
export function commandCases(s: Suite): void {
  s.test(
    'runs a command beside the units',
    async () => {
      const parts: Uint8Array[] = [];
      const request = {
        unit: s.spec(s.world.commands.serve),
        command: s.world.commands.runAndFail,
        output: (bytes: Uint8Array) => void parts.push(bytes),
        signal: NEVER,
        timeoutMs: 180_000,
      };
      expect(await s.provisioner.exec(request)).toEqual({ code: 4, signal: null });
      expect(Buffer.concat(parts).toString()).toBe('out\nerr\n');
      expect(await s.provisioner.list()).toEqual([]);
    },
    s.supports.shell,
  );

  s.test(
    'ends a command that takes too long or is not wanted any more',
    async () => {
      const request = {
        unit: s.spec(s.world.commands.serve),
        command: s.world.commands.runLong,
        output: () => undefined,
      };
      const late = failureOf(s.provisioner.exec({ ...request, signal: NEVER, timeoutMs: 200 }));
      const unwanted = failureOf(
        s.provisioner.exec({ ...request, signal: AbortSignal.timeout(100), timeoutMs: 180_000 }),
      );
      expect([(await late).code, (await unwanted).code]).toEqual(['timeout', 'cancelled']);
    },
    s.supports.shell,
  );

  const opened = async (signal: AbortSignal) => {
    const parts: Uint8Array[] = [];
    const shell = await s.provisioner.shell({
      unit: s.spec(s.world.commands.serve),
      term: 'xterm',
      size: { columns: 80, rows: 24 },
      output: (bytes) => void parts.push(bytes),
      signal,
    });
    return { shell, text: () => Buffer.concat(parts).toString() };
  };

  s.test(
    'opens a shell that does what is typed and ends with its code',
    async () => {
      const { shell, text } = await opened(NEVER);
      const typed = s.world.typed ?? s.world.commands;
      shell.resize({ columns: 100, rows: 30 });
      await shell.write(Buffer.from(`${typed.printEnvironment}\n`));
      await expect.poll(text).toMatch(/shop \S+ web/);
      expect(/shop (\S+) web/.exec(text())?.[1]).toMatch(s.unitName);
      await shell.write(Buffer.from(`${typed.exit3}\n`));
      expect(await shell.ended).toEqual({ code: 3, signal: null });
      expect(text()).toContain('last words');
      expect(await s.provisioner.list()).toEqual([]);
    },
    s.supports.shell,
  );

  s.testLong(
    'ends a shell with all that runs in it',
    async () => {
      const stop = new AbortController();
      const { shell } = await opened(stop.signal);
      void shell.write(Buffer.from(`${s.world.commands.runLong}\n`));
      stop.abort();
      expect(await shell.ended).toMatchObject({ signal: 'SIGKILL' });
      expect((await failureOf(opened(stop.signal))).code).toBe('cancelled');
    },
    s.supports.shell,
  );
}
