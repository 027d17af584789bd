/** Units, commands and shells of an image, which holds one program without any library. */
import { copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { skipFor } from '../../../../test/support/skips.ts';
import { QUICK_NETWORK } from '../../../../test/support/slow.ts';
import type { UnitSpec } from '../../../domain/units/provisioner.ts';
import { Failure } from '../../../domain/failure.ts';
import { createProcessWorld, openLevel, type ProcessWorld } from './provisioner-world.ts';
import { openTerminal } from './terminal.ts';
import { itLong } from '../../../../test/support/long-cases.ts';

const BUSYBOX = ['/bin/busybox', '/usr/bin/busybox'].find((file) => existsSync(file));
const NEVER = new AbortController().signal;
const terminal = await openTerminal({ columns: 80, rows: 24 });
terminal?.close();

const level = await openLevel('bubblewrap', QUICK_NETWORK);
const why = typeof level === 'string' ? level : level.sandbox.roots ? '' : level.sandbox.description;
const skipped = BUSYBOX === undefined ? 'there is no /bin/busybox (install the package busybox-static)' : why;

describe('a unit of an image', skipFor(skipped), () => {
  let world: ProcessWorld;
  beforeEach(async () => {
    if (typeof level !== 'string') world = await createProcessWorld(level);
  });
  afterEach(() => world.dispose());
  afterAll(async () => {
    if (typeof level !== 'string') await level.dispose();
  });

  function addImage(artifact: string, programs: readonly string[] = []): void {
    const code = world.addSlug(artifact);
    for (const name of ['bin', 'srv', 'etc', 'usr/bin']) mkdirSync(join(code, name), { recursive: true });
    copyFileSync(BUSYBOX ?? '', join(code, 'busybox'));
    for (const program of programs) symlinkSync('/busybox', join(code, program));
    for (const name of ['hosts', 'resolv.conf']) symlinkSync(`/.tancho/${name}`, join(code, 'etc', name));
    const user = { home: '/', uid: 4711, gid: 4711, name: 'web' };
    const image = { digest: 'sha256:1', directory: '/srv', ...user, ports: [8080], programs };
    const manifest = { format: 1, platform: '', path: [], env: { GREETING: 'below', OTHER: 'kept' }, binds: [], image };
    writeFileSync(join(code, '..', 'slug.json'), JSON.stringify(manifest));
  }

  const spec = (command: string, changes: Partial<UnitSpec> = {}): UnitSpec => ({
    id: 'aaaaaaaaaaaa',
    app: 'shop',
    name: 'shop/0',
    process: 'web',
    artifact: 'image',
    command,
    env: { GREETING: 'above' },
    listens: true,
    limits: { memoryBytes: 0, cpuMillis: 0, processes: 0 },
    ...changes,
  });

  async function run(command: string): Promise<{ code: number | null; text: string }> {
    let text = '';
    const output = (bytes: Uint8Array): void => void (text += Buffer.from(bytes).toString());
    const unit = spec('', { id: 'bbbbbbbbbbbb', listens: false });
    const { code } = await world.provisioner.exec({ unit, command, output, signal: NEVER, timeoutMs: 180_000 });
    return { code, text };
  }

  it('listens, is found again by the next control, and ends when it is asked to', async () => {
    addImage('image');
    const serve = `/busybox sh -c 'trap "exit 0" TERM; /busybox httpd -f -p $PORT -h /srv & wait'`;
    const unit = spec(serve);
    await world.provisioner.ensure(unit);
    const check = { listens: true, healthCheck: null, timeoutMs: 180_000, watchMs: 0 };
    expect(await world.provisioner.ready(unit.id, check, NEVER)).not.toBeNull();
    const next = await world.restart();
    expect(await next.recover(new Map([[unit.id, unit.id]]))).toEqual(new Set([unit.id]));
    // A unit that TERM does not reach would outlast the test.
    await next.stop(unit.id, 600_000);
    expect((await next.list()).filter(({ state }) => state === 'running')).toEqual([]);
  });

  itLong('that listens elsewhere, or ends, learns which ports its image exposes', async () => {
    addImage('image');
    const check = { listens: true, healthCheck: null, timeoutMs: 180_000, watchMs: 0 };
    for (const [command, code] of [
      ['/busybox httpd -f -p 127.0.0.1:0', 'wrong_port'],
      ['/busybox false', 'exited'],
    ] as const) {
      const unit = spec(command, { id: code.padEnd(12, '0').slice(0, 12).replace('_', '0') });
      await world.provisioner.ensure(unit);
      const failure = await world.provisioner.ready(unit.id, check, NEVER).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(Failure);
      expect(failure).toMatchObject({ code, hint: expect.stringMatching(/exposes port 8080.*on \$PORT/) as string });
      await world.provisioner.remove(unit.id);
    }
  });

  it('has commands in the same surroundings, read by its own shell or by none', async () => {
    addImage('image', ['/bin/sh']);
    const { code, text } = await run(
      '/busybox id -u; pwd; echo $GREETING $OTHER $HOME $TMPDIR $USER $LOGNAME; echo x > /tmp/x; exit 4',
    );
    expect([code, text.split('\n')]).toEqual([4, ['4711', '/srv', 'above kept / /tmp web web', '']]);
    expect((await run('/busybox cat /etc/hosts')).code).toBe(0);
    addImage('image2');
    const bare = spec('', { id: 'cccccccccccc', artifact: 'image2', listens: false });
    const options = { unit: bare, output: () => {}, signal: NEVER, timeoutMs: 180_000 };
    expect(await world.provisioner.exec({ ...options, command: "/busybox test 'a b' = 'a b'" })).toMatchObject({
      code: 0,
    });
    await expect(world.provisioner.exec({ ...options, command: 'a | b' })).rejects.toThrow('There is no shell');
    const shell = { unit: bare, term: 'xterm', size: null, output: () => {}, signal: NEVER };
    await expect(world.provisioner.shell(shell)).rejects.toThrow('There is no shell');
  });

  itLong('has shells, on a terminal where there are any', async ({ skip }) => {
    if (terminal === null) skip('no pseudo-terminals here');
    addImage('image', ['/bin/sh']);
    let text = '';
    const shell = await world.provisioner.shell({
      unit: spec('', { listens: false }),
      term: 'xterm',
      size: { columns: 80, rows: 24 },
      output: (bytes) => void (text += Buffer.from(bytes).toString()),
      signal: NEVER,
    });
    expect(shell.isTerminal).toBe(true);
    await shell.write(Buffer.from('test -t 0 && echo "on a t"erminal; exit 5\r'));
    expect(await shell.ended).toMatchObject({ code: 5 });
    expect(text).toContain('on a terminal');
  });

  it('is refused where there are no root file systems', async () => {
    if (typeof level === 'string') return;
    const other = await createProcessWorld(level, { roots: false });
    try {
      const mine = world;
      world = other;
      addImage('image');
      world = mine;
      expect(other.provisioner.supports.images).toBe(false);
      await expect(other.provisioner.ensure(spec('/busybox true'))).rejects.toThrow('no root file system');
    } finally {
      await other.dispose();
    }
  });
});
