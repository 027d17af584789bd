import { describe, expect, it } from 'vitest';
import { withoutCredentials } from './credentials-in-text.ts';

describe('withoutCredentials', () => {
  it.each([
    ['cannot reach postgres://ann:s3cret@db:5432/shop now', 'cannot reach postgres://***@db:5432/shop now'],
    ['redis://:s3cret@db', 'redis://***@db'],
    ['{"password": "s3\\"cret", "user": "ann"}', '{"password": ***, "user": "ann"}'],
    ["DB_PASSWORD='s3 cret' is wrong", 'DB_PASSWORD=*** is wrong'],
    ['GET /?api_key=s3cret&page=2', 'GET /?api_key=***&page=2'],
    ['Authorization: Bearer s3cret.s3cret', 'Authorization: Bearer ***'],
    ['-----BEGIN RSA PRIVATE KEY-----\ns3cret\n-----END RSA PRIVATE KEY----- follows', '*** follows'],
    ['a key cut off -----BEGIN PRIVATE KEY-----\ns3cret', 'a key cut off ***'],
  ])('%s', (text, shown) => {
    expect(withoutCredentials(text)).toBe(shown);
  });

  it.each(['there is no password', 'see https://docs.example.com/a@b', 'no such database "shop"', 'token expired'])(
    'leaves alone: %s',
    (text) => expect(withoutCredentials(text)).toBe(text),
  );
});
