import { expect, it } from 'vitest';
import { sourceOf } from '../../../test/support/memory-source.ts';
import { LANGUAGES } from '../languages/built-in.ts';
import { planSource } from '../plan-source.ts';
import { composeHint } from './compose-hint.ts';

const COMPOSE = `
services:
  web:
    build: .
    volumes: [./data:/data]
  db: { image: "postgres:16-alpine", volumes: ["db:/var/lib/postgresql/data"] }
  cache: { image: registry.example.com/mirror/valkey@sha256:abc }
  queue: { image: rabbitmq }
  admin: { image: "adminer:4" }
  own: { build: ./own, image: "me/own:latest" }
  odd: { image: "x; rm -rf /" }
`;
const hint = (text: string) => composeHint('shop', sourceOf({ 'docker-compose.yml': text }));

it('names the services that are needed, images that could be apps, and what stays', async () => {
  expect(await hint(COMPOSE)).toEqual([
    expect.stringMatching(/^docker-compose.yml is not followed/),
    expect.stringMatching(
      /^Its db is postgres, where .*: tancho instance create postgres shop-postgres, then: tancho instance bind shop-postgres -a shop$/,
    ),
    expect.stringMatching(/^Its cache is redis/),
    expect.stringMatching(/^Its queue is rabbitmq, where there is a service called rabbitmq/),
    'Its admin is an image, which can be an app of its own: tancho deploy -a <app> --image adminer:4',
    'Directories that stay, as its volumes do: tancho volume create data -a shop',
  ]);
});

it.each(['', 'services: [a]', 'services: {a: b}', 'a: [', '- '.repeat(10_000)])('says nothing of %j', async (text) => {
  expect(await hint(text)).toEqual([]);
});

it('is among the notes of a plan, and in what is said where nothing else can be built', async () => {
  const plan = async (files: Record<string, string>) =>
    planSource({ app: 'shop', platform: 'auto', languages: LANGUAGES, files: sourceOf(files) });
  const files = { 'compose.yaml': COMPOSE, 'package.json': '{"scripts":{"start":"node ."}}' };
  expect((await plan(files)).plan.notes.join('\n')).toContain('Its db is postgres');
  await expect(plan({ 'compose.yaml': COMPOSE })).rejects.toMatchObject({
    code: 'no_platform',
    hint: expect.stringContaining('tancho deploy -a <app> --image adminer:4') as string,
  });
});
