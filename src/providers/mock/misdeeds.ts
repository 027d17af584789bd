/** Carries a rule out: each misdeed at the level where it hurts, up to the bytes on the connection. */
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { type ProviderAnswer, send } from '../answer.ts';
import type { ProviderExchange } from '../serve.ts';
import type { Rule } from './rules.ts';

const DRIP_MS = 200;
const HUGE_PIECES = 1024;
const PIECE = 'x'.repeat(64 * 1024);

interface MisdeedOptions {
  /** Ends the process of its own; absent where it is not its own. */
  readonly exit?: () => void;
  /** All it knows. */
  readonly forget: () => void;
  /** What a liar answers to this call. */
  readonly lie: (exchange: ProviderExchange) => ProviderAnswer;
}

/** Null: the answer was given in another way, or never will be. */
export async function misbehave(
  rule: Rule,
  exchange: ProviderExchange,
  run: () => Promise<ProviderAnswer>,
  options: MisdeedOptions,
): Promise<ProviderAnswer | null> {
  const { response } = exchange;
  const failure: ProviderAnswer = { status: rule.status ?? 500, body: 'asked to fail' };
  switch (rule.do) {
    case 'fail':
      return failure;
    case 'hang':
      return null;
    case 'die':
      response.destroy();
      return null;
    case 'lie':
      return options.lie(exchange);
    case 'redirect':
      return { status: 302, headers: { location: rule.to ?? 'http://169.254.169.254/' } };
    case 'late':
      await delay(rule.ms ?? 1_000);
      break;
    case 'forget':
      options.forget();
      break;
    case 'twice':
      await run();
      break;
    default:
  }
  const answer = await run();
  switch (rule.do) {
    case 'fail-after':
      return failure;
    case 'hang-after':
      return null;
    case 'die-after':
      response.destroy();
      return null;
    case 'exit':
      response.destroy();
      options.exit?.();
      return null;
    case 'slow':
      await delay(rule.ms ?? 1_000);
      return answer;
    case 'page':
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Back soon</title>');
      return null;
    case 'leak':
      return { status: 500, ...(answer.body !== undefined && { body: answer.body }) };
    case 'garbage':
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end('<html>{"half": ');
      return null;
    case 'wrong-types':
      return { status: answer.status, body: { list: [1, null], port: 5432, nested: { a: true } } };
    case 'bad-names':
      return { status: answer.status, body: { '1=BAD NAME': 'x', 'LD_PRELOAD\n': 'y', NUL: 'a\u0000b' } };
    case 'cut':
      response.writeHead(answer.status, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"HALF": "', () => response.destroy());
      return null;
    case 'huge':
      await pour(exchange, answer.status);
      return null;
    case 'drip':
      drip(exchange, answer.status);
      return null;
    default:
      send(response, answer);
      return null;
  }
}

async function pour({ response }: ProviderExchange, status: number): Promise<void> {
  response.writeHead(status, { 'content-type': 'application/json' });
  const pieces = function* (): Generator<string> {
    yield '{"HUGE": "';
    for (let piece = 0; piece < HUGE_PIECES; piece += 1) yield PIECE;
    yield '"}';
  };
  // The reader is expected to leave.
  await pipeline(pieces, response).catch(() => undefined);
}

function drip({ response }: ProviderExchange, status: number): void {
  response.on('error', () => undefined);
  response.writeHead(status, { 'content-type': 'application/json' });
  response.write('{"DRIP": "');
  const timer = setInterval(() => response.write('x'), DRIP_MS);
  response.once('close', () => clearInterval(timer));
}
