import { chmod, mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newSealKey, openSealer, placeSealKey, Sealer } from './seal.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tancho-seal-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('Sealer', () => {
  const sealer = new Sealer([newSealKey()]);

  test('opens what it sealed, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, context) => {
        expect(sealer.open(sealer.seal(text, context), context)).toBe(text);
      }),
    );
  });

  test('never seals alike twice, and shows nothing of the text', () => {
    const sealed = [sealer.seal('plain-canary', 'a'), sealer.seal('plain-canary', 'a')];
    expect(sealed[0]).not.toBe(sealed[1]);
    expect(Buffer.from(sealed[0]?.split('.')[2] ?? '', 'base64url').includes('plain-canary')).toBe(false);
  });

  test('does not open in another context', () => {
    expect(() => sealer.open(sealer.seal('x', 'env:shop:A'), 'env:shop:B')).toThrow('belongs elsewhere');
  });

  test('notices every changed character', () => {
    const sealed = sealer.seal('text', 'c');
    for (let at = 0; at < sealed.length; at++) {
      const changed = sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1);
      // The last character of base64 may carry bits that mean nothing.
      if (at === sealed.length - 1) continue;
      expect(() => sealer.open(changed, 'c'), `position ${at}`).toThrow();
    }
    for (const bad of ['', 's1', 's1.00000000', 's1.00000000.', `${sealed}.x`]) {
      expect(() => sealer.open(bad, 'c')).toThrow();
    }
  });

  test('seals with the first key and opens with all', () => {
    const [old, fresh] = [newSealKey(), newSealKey()];
    const before = new Sealer([old]).seal('kept', 'c');
    const rotated = new Sealer([fresh, old]);
    expect(rotated.open(before, 'c')).toBe('kept');
    expect(rotated.seal('x', 'c').split('.')[1]).toBe(fresh.id);
    expect(() => new Sealer([fresh]).open(before, 'c')).toThrow(`key ${old.id}, which is not in the key file`);
  });
});

describe('openSealer', () => {
  test('creates the file once, private, and reads it again', async () => {
    const file = join(folder, 'new', 'secret.key');
    const sealed = (await openSealer(file)).seal('x', 'c');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await openSealer(file)).open(sealed, 'c')).toBe('x');
    expect(await readdir(join(folder, 'new'))).toEqual(['secret.key']);
  });

  test('ten at a time agree on one key', async () => {
    const file = join(folder, 'race.key');
    const sealers = await Promise.all(Array.from({ length: 10 }, () => openSealer(file)));
    const sealed = sealers[0]?.seal('x', 'c') ?? '';
    for (const sealer of sealers) expect(sealer.open(sealed, 'c')).toBe('x');
  });

  test('takes several keys and comments', async () => {
    const file = join(folder, 'several.key');
    await openSealer(file);
    const other = join(folder, 'other.key');
    const sealed = (await openSealer(other)).seal('x', 'c');
    await writeFile(file, `${await readFile(file, 'utf8')}\n# the old one\n\n${await readFile(other, 'utf8')}`);
    expect((await openSealer(file)).open(sealed, 'c')).toBe('x');
  });

  test.each([
    ['empty', '', 'holds no key'],
    ['not a key', 'hello world\n', 'is damaged'],
    ['short', '00000000 AAAA\n', 'is damaged'],
    ['a typing error', `00000000 ${Buffer.alloc(32).toString('base64')}\n`, 'is damaged'],
  ])('refuses a file that is %s', async (name, text, message) => {
    const file = join(folder, `bad-${name}.key`);
    await writeFile(file, text, { mode: 0o600 });
    await expect(openSealer(file)).rejects.toThrow(message);
    expect(await readFile(file, 'utf8')).toBe(text);
  });

  test('is made of a key that is given, and refuses another one', async () => {
    const [given, file] = [join(folder, 'given.key'), join(folder, 'placed.key')];
    const sealed = (await openSealer(given)).seal('x', 'c');
    const line = (await readFile(given, 'utf8')).trim().split('\n').at(-1) ?? '';
    for (let time = 0; time < 2; time++) await placeSealKey(file, line);
    expect((await openSealer(file)).open(sealed, 'c')).toBe('x');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await openSealer(join(folder, 'own.key'));
    await expect(placeSealKey(join(folder, 'own.key'), line)).rejects.toThrow('holds another key');
    await expect(placeSealKey(join(folder, 'none.key'), 'no key')).rejects.toThrow('is damaged');
  });

  test('refuses a file that others may read, and says what to do', async () => {
    const file = join(folder, 'open.key');
    await openSealer(file);
    await chmod(file, 0o640);
    await expect(openSealer(file)).rejects.toThrow(`chmod 600 ${file}`);
  });

  test('refuses a folder, and a place where nothing can be created', async () => {
    await mkdir(join(folder, 'dir.key'));
    await expect(openSealer(join(folder, 'dir.key'))).rejects.toThrow('is not a key file');
    await writeFile(join(folder, 'plain'), '');
    await expect(openSealer(join(folder, 'plain', 'secret.key'))).rejects.toThrow('cannot be read');
    await expect(openSealer('/proc/secret.key')).rejects.toThrow('cannot be created');
  });
});
