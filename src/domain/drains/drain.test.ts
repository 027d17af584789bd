import { expect, it } from 'vitest';
import { checkTarget, receiverOf, shownReceiver } from './drain.ts';

const target = (url: string, format = '', headers: Record<string, unknown> = {}) =>
  checkTarget({ url, format, headers });

it('takes the format from the address where none is given', () => {
  expect(target('syslog+tls://logs.example.com').url).toBe('syslog+tls://logs.example.com:6514');
  expect(target('syslog://logs.example.com:80')).toEqual({
    format: 'syslog',
    url: 'syslog://logs.example.com:80',
    headers: {},
  });
  expect(target('https://logs.example.com').format).toBe('ndjson');
  expect(target('https://logs.example.com', 'loki').format).toBe('loki');
});

it('reads every form of an address, whatever the scheme', () => {
  expect(target('syslog://0x7f.1:514').url).toBe('syslog://127.0.0.1:514');
  expect(target('syslog://[::1]:514').url).toBe('syslog://[::1]:514');
});

it.each([
  'logs.example.com',
  'ftp://logs.example.com',
  'https://ann:secret@logs.example.com',
  'https://logs.example.com#part',
  'syslog://logs.example.com/path',
  'syslog:logs',
  `https://logs.example.com/${'x'.repeat(3_000)}`,
])('refuses %s', (url) => {
  expect(() => target(url)).toThrow(expect.objectContaining({ code: 'drain.invalid' }));
});

it('refuses formats that do not go with the address, and headers that are the platform’s own', () => {
  for (const wrong of [
    () => target('syslog://logs.example.com', 'loki'),
    () => target('https://logs.example.com', 'syslog'),
    () => target('https://logs.example.com', 'xml'),
    () => target('syslog://logs.example.com', '', { 'x-key': 'v' }),
    () => target('https://logs.example.com', '', { Host: 'elsewhere' }),
    () => target('https://logs.example.com', '', { 'x-key': 'a\r\nb: c' }),
    () => target('https://logs.example.com', '', { 'x key': 'a' }),
    () => target('https://logs.example.com', '', { 'x-key': 1 }),
  ]) {
    expect(wrong).toThrow(expect.objectContaining({ code: 'drain.invalid' }));
  }
  expect(target('https://logs.example.com', '', { Authorization: 'Bearer x' }).headers).toEqual({
    authorization: 'Bearer x',
  });
});

it('shows nothing of an address that could be a secret', () => {
  expect(shownReceiver(target('https://logs.example.com/token-1?key=2'))).toBe('https://logs.example.com/…');
  expect(shownReceiver(target('https://logs.example.com:8443/'))).toBe('https://logs.example.com:8443');
  expect(receiverOf(target('https://logs.example.com:8443/a'))).toBe('https://logs.example.com:8443');
});
