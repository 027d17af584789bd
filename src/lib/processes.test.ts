import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import {
  allProcesses,
  familyOf,
  isAlive,
  markedProcesses,
  parseStat,
  readProcess,
  SANDBOX_MARK,
  unlessGone,
} from './processes.ts';

describe('parseStat', () => {
  it('is not confused by the command name', () => {
    const text = '42 (a) b (c) R 7 42 40 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 98765 1000 10';
    const facts = { pid: 42, parent: 7, session: 40, start: '98765', zombie: false, isStarting: false };
    expect(parseStat(text)).toEqual(facts);
    expect(parseStat(text.replace(' R ', ' Z '))?.zombie).toBe(true);
    expect(parseStat('nonsense')).toBeNull();
    const starting = `${text} ${'0 '.repeat(30)}`;
    expect(parseStat(starting)?.isStarting).toBe(true);
    expect(parseStat(starting.replace(' 1000 10 ', ' 0 0 '))?.isStarting).toBe(false);
  });
});

describe('the process table', () => {
  it('knows a process by pid and start time', () => {
    const own = readProcess(process.pid);
    expect(own?.parent).toBe(process.ppid);
    expect(isAlive(process.pid, own?.start ?? '')).toBe(true);
    expect(isAlive(process.pid, '1')).toBe(false);
    expect(isAlive(0, '')).toBe(false);
  });

  it('takes a process for dead only when the kernel says so', () => {
    const failing = (code: string) => () => unlessGone<string>(() => raise(code));
    expect([failing('ENOENT')(), failing('ESRCH')()]).toEqual([null, null]);
    expect(failing('EMFILE')).toThrow('EMFILE');
    expect(failing('EIO')).toThrow('EIO');
    expect(readProcess(2 ** 30)).toBeNull();
  });

  it('finds descendants and marked processes', async () => {
    const child = spawn('/bin/sleep', ['30'], { env: { [SANDBOX_MARK]: 'test-mark' }, stdio: 'ignore' });
    const gone = new Promise((resolve) => child.once('exit', resolve));
    await new Promise((resolve) => child.once('spawn', resolve));
    const all = allProcesses();
    expect(familyOf(process.pid, all)).toContain(child.pid);
    expect(markedProcesses('test-mark', all)).toEqual([child.pid]);
    expect(markedProcesses('test-mar', all)).toEqual([]);
    child.kill('SIGKILL');
    await gone;
  });
});

function raise(code: string): never {
  throw Object.assign(new Error(code), { code });
}
