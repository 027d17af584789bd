/** Pushes that mean something else than they say, or that stand for far more than they hold. */
import { createHash } from 'node:crypto';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skipFor } from '../../../../test/support/skips.ts';
import { SILENT } from '../../../lib/logger.ts';
import { findProgram } from '../../../lib/find-program.ts';
import { type BareRepos, createBareRepos } from './bare-repos.ts';
import { itLong } from '../../../../test/support/long-cases.ts';

const MIB = 1024 * 1024;
const TYPES = { commit: 1, tree: 2, blob: 3, delta: 7 };
const hasGit = spawnSync('git', ['version']).status === 0;
const canLimit = findProgram('prlimit') !== null;

interface PackedObject {
  readonly type: keyof typeof TYPES;
  readonly data: Buffer;
  /** Of a delta: the object it is made from. */
  readonly of?: string;
}

let root: string;
let host: BareRepos;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'hostile-pushes-'));
  const limits = { maxMemoryBytes: 128 * MIB };
  host = await createBareRepos({ root: join(root, 'repos'), preReceive: '#!/bin/sh\n', logger: SILENT, ...limits });
  await host.create('shop');
});

afterAll(async () => {
  await host.close();
  await rm(root, { recursive: true, force: true });
});

const git = (args: readonly string[], input = ''): string => {
  const author = ['-c', 'user.name=a', '-c', 'user.email=a@b'];
  const given = [`--git-dir=${join(root, 'repos', 'shop.git')}`, ...author, ...args];
  return execFileSync('git', given, { input, stdio: ['pipe', 'pipe', 'pipe'] })
    .toString()
    .trim();
};

function idOf(type: string, data: Buffer): string {
  return createHash('sha1').update(`${type} ${data.length}\0`).update(data).digest('hex');
}

/** The format of git's own lengths: seven bits at a time, the lowest first. */
function length(value: number): Buffer {
  const bytes: number[] = [];
  for (let left = value; ; left = Math.floor(left / 128)) {
    bytes.push((left % 128) | (left < 128 ? 0 : 0x80));
    if (left < 128) return Buffer.from(bytes);
  }
}

function packed({ type, data, of }: PackedObject): Buffer {
  const rest = Math.floor(data.length / 16);
  const first = (TYPES[type] << 4) | (data.length % 16) | (rest === 0 ? 0 : 0x80);
  const base = of === undefined ? Buffer.alloc(0) : Buffer.from(of, 'hex');
  return Buffer.concat([Buffer.from([first]), rest === 0 ? Buffer.alloc(0) : length(rest), base, deflateSync(data)]);
}

function pack(objects: readonly PackedObject[]): Buffer {
  const count = Buffer.alloc(4);
  count.writeUInt32BE(objects.length);
  const body = Buffer.concat([Buffer.from('PACK\0\0\0\u0002'), count, ...objects.map(packed)]);
  return Buffer.concat([body, createHash('sha1').update(body).digest()]);
}

/** One that is `times` its base, in a few bytes for each. */
function unfolding(base: Buffer, times: number): PackedObject {
  const all = Buffer.from([0x80 | 0x10 | 0x20 | 0x40, 0xff, 0xff, 0xff]);
  const copies = Array.from({ length: times }, () => all);
  const data = Buffer.concat([length(base.length), length(base.length * times), ...copies]);
  return { type: 'delta', data, of: idOf('blob', base) };
}

async function push(ref: string, objects: readonly PackedObject[]): Promise<string> {
  const commit = objects.find(({ type }) => type === 'commit')?.data ?? Buffer.alloc(0);
  const line = `${'0'.repeat(40)} ${idOf('commit', commit)} ${ref}\0 report-status`;
  const head = `${(line.length + 4).toString(16).padStart(4, '0')}${line}0000`;
  const served = await host.serve('shop', { service: 'git-receive-pack', mode: 'rpc', protocol: '', by: 'ann' });
  served.input.on('error', () => {});
  served.input.end(Buffer.concat([Buffer.from(head), pack(objects)]));
  served.errors.resume();
  served.hook?.lines.end();
  served.hook?.requests.resume();
  let text = '';
  for await (const chunk of served.output) text += String(chunk);
  await served.exited;
  return text;
}

function commitOf(tree: Buffer): PackedObject {
  const who = 'a <a@b> 1700000000 +0000';
  return { type: 'commit', data: Buffer.from(`tree ${idOf('tree', tree)}\nauthor ${who}\ncommitter ${who}\n\nx\n`) };
}

describe('a push', skipFor(!hasGit && 'git is not installed'), () => {
  const base = Buffer.alloc(0xffffff, 'a');
  const tree = Buffer.concat([Buffer.from('100644 a\0'), Buffer.from(idOf('blob', base), 'hex')]);
  const whole: PackedObject[] = [{ type: 'blob', data: base }, { type: 'tree', data: tree }, commitOf(tree)];

  it('of an ordinary object is taken', async () => {
    expect(await push('refs/heads/fine', [...whole, unfolding(base, 1)])).toContain('ok refs/heads/fine');
    expect(await host.ref('shop', 'refs/heads/fine')).toMatch(/^[0-9a-f]{40}$/);
  });

  itLong(
    'of a few kilobytes that unfold to what no machine has is refused',
    skipFor(!canLimit && 'this system has no prlimit'),
    async () => {
      const bomb = [...whole, unfolding(base, 20)];
      expect(pack(bomb).length).toBeLessThan(64 * 1024);
      const said = await push('refs/heads/bomb', bomb);
      expect(said).toContain('ng refs/heads/bomb');
      expect(await host.ref('shop', 'refs/heads/bomb')).toBeNull();
    },
  );

  it('of a replacement changes nothing about what a commit holds', async () => {
    const commitWith = (text: string): string => {
      const blob = git(['hash-object', '-w', '--stdin'], text);
      return git(['commit-tree', '-m', text, git(['mktree'], `100644 blob ${blob}\tfile\n`)]);
    };
    const [shown, other] = [commitWith('shown'), commitWith('other')];
    git(['update-ref', `refs/replace/${shown}`, other]);
    const directory = await mkdtemp(join(root, 'tree-'));
    await host.source('shop', shown).extract(directory, new AbortController().signal);
    expect(await readFile(join(directory, 'file'), 'utf8')).toBe('shown');
    expect(await host.diff('shop', shown, other)).toContain('-shown');
  });

  itLong(
    'is compared by one process at a time, however many ask',
    skipFor(!existsSync('/proc') && 'this system has no /proc'),
    async () => {
      const text = (seed: number): string =>
        Array.from({ length: 60_000 }, (_, line) => `${(line * seed) % 65_521}\n`).join('');
      const commitOfText = (content: string): string => {
        const blob = git(['hash-object', '-w', '--stdin'], content);
        return git(['commit-tree', '-m', 'x', git(['mktree'], `100644 blob ${blob}\tfile\n`)]);
      };
      const [from, to] = [commitOfText(text(7)), commitOfText(text(11))];
      let most = 0;
      const counting = setInterval(() => (most = Math.max(most, processesAt(from))), 5);
      const found = await Promise.all(Array.from({ length: 4 }, () => host.diff('shop', from, to)));
      clearInterval(counting);
      expect(new Set(found).size).toBe(1);
      expect(most).toBe(1);
    },
  );
});

/** Processes that have this word in their arguments. */
function processesAt(word: string): number {
  const pids = readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name));
  return pids.filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0').includes(word);
    } catch {
      return false;
    }
  }).length;
}
