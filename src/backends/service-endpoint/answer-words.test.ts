import { describe, expect, it } from 'vitest';
import { isPage } from '../../lib/web-page.ts';
import { processorMs } from '../../../test/support/processor-ms.ts';
import { wordsIn } from './answer-words.ts';
import { urlOf } from './calls.ts';

const ENDPOINT = { service: 'db', url: 'http://a', username: 'a', password: 'b', kind: 'http' } as const;

describe('the words of an answer', () => {
  it.each([
    ['There is no room.', 'There is no room.'],
    ['"There is no room."', 'There is no room.'],
    ['{"error": "full", "message": "There is no room.", "URL": "db://s3cret"}', 'full: There is no room.'],
    ['{"Error": {"Message": "no room", "vars": {"A": "s3cret"}}}', 'no room'],
    ['{"DATABASE": "s3cret"}', ''],
    ['["s3cret"]', ''],
    ['{"DATABASE": "s3cr', ''],
    ['"quoted" and more', '"quoted" and more'],
    [' <!DOCTYPE html><html><head><title> 502 Bad Gateway </title></head>', 'a web page, "502 Bad Gateway"'],
  ])('%s', (text, words) => expect(wordsIn(text)).toBe(words));

  it('a page without an end of its title holds nobody up', () => {
    const begun = processorMs();
    expect(wordsIn(`<html>${'<title'.repeat(100_000)}`)).toBe('a web page, ""');
    expect(urlOf({ ...ENDPOINT, url: `http://a/${'/'.repeat(400_000)}x` }, '/b').pathname).toMatch(/x\/b$/);
    expect(processorMs() - begun).toBeLessThan(10_000);
  });

  it('a page is one whatever precedes it', () => {
    expect(['\n<HTML>', '<!doctype html>'].map(isPage)).toEqual([true, true]);
    expect(['<xml>', '', '{}', 'ok', '<htmlish>'].map(isPage)).toEqual([false, false, false, false, false]);
  });
});
