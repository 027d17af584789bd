import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ssh2 from 'ssh2';
import { describe, expect, it } from 'vitest';
import { isPlatformError } from '../domain/errors.ts';
import { loadHostKey, newHostKey } from './host-key.ts';
import { printableLines, printableName } from './printable.ts';
import { planPush } from './ref-updates.ts';
import { appOfPath } from './refusal.ts';
import { parseSshCommand } from './ssh-command.ts';

const ZERO = '0'.repeat(40);
const [A, B] = ['a'.repeat(40), 'b'.repeat(40)];

describe('the command of an ssh client', () => {
  it('is one of the two of git, in the ways clients write them', () => {
    for (const text of [`git-receive-pack '/shop.git'`, 'git receive-pack /shop.git', `git-receive-pack "/shop.git"`]) {
      expect(parseSshCommand(text)).toEqual({ service: 'git-receive-pack', path: '/shop.git' });
    }
    expect(parseSshCommand(`git-upload-pack 'shop'`)?.service).toBe('git-upload-pack');
  });

  it('is nothing else', () => {
    const hostile = [
      'ls',
      'git-upload-archive shop',
      'git-receive-pack',
      `git-receive-pack 'a' 'b'`,
      'git-receive-pack a; id',
    ];
    hostile.push(
      `git-receive-pack '/shop.git' && id`,
      ` git-receive-pack 'a'`,
      'git-receive-pack "$(id)"',
      'git gc',
      '',
    );
    hostile.push(`git-receive-pack '${'x'.repeat(2_000)}'`, `git-receive-pack 'a'\\''b'`, `git-receive-pack a\nb`);
    for (const text of hostile) expect(parseSshCommand(text), text).toBeNull();
  });
});

describe('the path of a repository', () => {
  it('names its app', () => {
    for (const path of ['/shop.git', 'shop.git', 'shop', '/shop', '~/shop.git']) expect(appOfPath(path)).toBe('shop');
  });

  it('never names anything else', () => {
    const hostile = [
      '../x',
      '-x',
      'x;id',
      'x\0',
      'x/y',
      '/',
      '',
      '.git',
      'X',
      '~',
      '~bob/x',
      '.platform',
      'x'.repeat(64),
      'ä',
    ];
    for (const path of hostile) {
      expect(() => appOfPath(path), path).toThrow(expect.objectContaining({ code: 'app.not_found' }));
    }
    try {
      appOfPath('\u001b[2Jevil');
    } catch (error) {
      expect(isPlatformError(error) && error.message).toBe('"?[2Jevil" does not name an app.');
    }
  });
});

describe('what a push means', () => {
  it('deploys main or master', () => {
    const update = { from: A, to: B, ref: 'refs/heads/master' };
    expect(planPush([update])).toEqual({ deploy: update, refusal: null, notices: [] });
  });

  it('names what is stored, and how to deploy it only when nothing is', () => {
    const tag = { from: ZERO, to: A, ref: 'refs/tags/v1' };
    const main = { from: A, to: B, ref: 'refs/heads/main' };
    expect(planPush([main, tag]).notices).toEqual(['Stored v1, not deployed: only the branch main (or master) is.']);
    const many = [1, 2, 3, 4, 5].map((n) => ({ from: ZERO, to: A, ref: `refs/heads/b${n}` }));
    expect(planPush(many).notices[0]).toContain('Stored b1, b2, b3 and 2 more, not deployed');
    expect(planPush([{ from: A, to: ZERO, ref: 'refs/heads/b' }])).toEqual({
      deploy: null,
      refusal: null,
      notices: [],
    });
  });
});

describe('text for a terminal', () => {
  it('keeps what is printed and drops what acts', () => {
    expect(printableLines('\u001b[1;32mok\u001b[0m\tdone')).toEqual(['ok\tdone']);
    expect(printableLines('\u001b]0;title\u0007text\u001b]8;;http://x\u001b\\link')).toEqual(['textlink']);
    expect(printableLines(' 10%\r 50%\r100%\r\nnext')).toEqual(['100%', 'next']);
    expect(printableLines('a\u0000\u0008\u009b2J\u202e\u061c\u2028b')).toEqual(['a2Jb']);
    expect(printableLines('x'.repeat(5_000))[0]).toHaveLength(4_003);
    expect(printableName('a\nb\u001bc')).toBe('a b?c');
  });
});

describe('the host key', () => {
  it('is made once, for its owner only, even by two starts at once', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'host-key-'));
    const file = join(directory, 'keys', 'host');
    const [one, two] = await Promise.all([loadHostKey(file), loadHostKey(file)]);
    expect(one).toBe(two);
    expect(await loadHostKey(file)).toBe(await readFile(file, 'utf8'));
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(directory, 'keys'))).toEqual(['host']);
    const shown = execFileSync('ssh-keygen', ['-y', '-f', file]).toString();
    expect(shown).toMatch(/^ssh-ed25519 AAAA/);
    await rm(directory, { recursive: true });
  });

  it("may be the operator's own, and is refused at the start when it is none", async () => {
    const directory = await mkdtemp(join(tmpdir(), 'host-key-'));
    const file = join(directory, 'host');
    execFileSync('ssh-keygen', ['-q', '-t', 'rsa', '-b', '2048', '-N', '', '-f', file]);
    expect(await loadHostKey(file)).toContain('PRIVATE KEY');
    const made = newHostKey();
    const publicKey = await readFile(`${file}.pub`, 'utf8');
    for (const text of [
      '',
      'broken',
      publicKey,
      made.slice(0, -80),
      made.replace(/\n.{20}/, '\nAAAAAAAAAAAAAAAAAAAA'),
    ]) {
      await writeFile(file, text);
      await expect(loadHostKey(file), text).rejects.toMatchObject({ code: 'key.invalid' });
    }
    await rm(directory, { recursive: true });
  });

  it('is understood, whatever bytes it is made of', () => {
    for (let i = 0; i < 300; i += 1) {
      const key = ssh2.utils.parseKey(newHostKey());
      if (key instanceof Error) throw key;
      expect(key.verify('data', key.sign('data'))).toBe(true);
    }
  });
});
