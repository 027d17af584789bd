/** What every Builder must do; run by each implementation with sources of its own. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ArtifactStore } from '../../domain/artifacts/artifact-store.ts';
import type { Builder, BuildRequest, SourceTree } from '../../domain/deploys/builder.ts';
import { Failure } from '../../domain/failure.ts';
import type { FailureCause } from '../../domain/failure.ts';

interface Sample {
  readonly platform: string;
  readonly source: SourceTree;
}

interface BuilderUnderTest {
  /** Where it puts what it makes. */
  readonly artifacts: ArtifactStore;
  readonly builder: Builder;
  /** Builds, with a process called `web`. */
  readonly good: Sample;
  /** Its build prints the value of the variable CANARY and succeeds. */
  readonly talkative: Sample;
  /** Its build prints `before the end` and fails with exit code 7. */
  readonly failing: Sample;
  /** Its build prints `waiting` and would go on for minutes. */
  readonly endless: Sample;
  /** A source for another platform than the one named. */
  readonly foreign: Sample;
  /** A source that does not say how it is started and for which there is no default. */
  readonly processless: Sample;
  /** A source with a Procfile that is not one. */
  readonly garbled: Sample;
  dispose(): Promise<void>;
}

const CASES = 13;
const NEVER = new AbortController().signal;

export function builderConformance(name: string, create: () => Promise<BuilderUnderTest>): void {
  describe(`builder conformance: ${name}`, () => {
    let under: BuilderUnderTest;
    let cases = 0;
    let deploys = 0;
    beforeAll(async () => {
      under = await create();
    });
    afterAll(async () => {
      await under.dispose();
      expect(cases, 'cases of the conformance suite').toBe(CASES);
    });
    const check = (title: string, body: () => Promise<void>): void => {
      it(title, async () => {
        cases += 1;
        await body();
      });
    };
    const request = (app: string, sample: Sample, more: Partial<BuildRequest> = {}): BuildRequest => {
      deploys += 1;
      return { app, deployId: deploys.toString(16).padStart(24, '0'), ...sample, env: {}, ...more };
    };
    successes(check, () => under, request);
    failures(check, () => under, request);
  });
}

type Check = (title: string, body: () => Promise<void>) => void;
type Request = (app: string, sample: Sample, more?: Partial<BuildRequest>) => BuildRequest;

function successes(check: Check, under: () => BuilderUnderTest, request: Request): void {
  const build = (one: BuildRequest, line: (text: string) => void = () => undefined) =>
    under().builder.build(one, line, NEVER);

  check('says what it can build, and what is missing exactly when it cannot', async () => {
    const platforms = await under().builder.platforms();
    expect(platforms.length).toBeGreaterThan(0);
    expect(await under().builder.platformNames()).toEqual(platforms.map(({ name }) => name));
    for (const platform of platforms) {
      expect(platform.name).toMatch(/^[a-z][a-z0-9-]*$/);
      expect(platform.description).not.toBe('');
      expect(platform.ready).toBe(platform.missing.length === 0);
    }
  });

  check('puts an artifact with its app into the store', async () => {
    const artifact = await build(request('listed', under().good));
    expect(artifact.processes['web']).toBeTruthy();
    expect(await under().artifacts.list()).toContainEqual({ id: artifact.id, app: 'listed' });
  });

  check('gives every deploy an artifact of its own', async () => {
    const first = await build(request('twice', under().good));
    const second = await build(request('twice', under().good));
    expect(first.id).not.toBe(second.id);
    await under().artifacts.remove(first.id);
    const ids = (await under().artifacts.list()).map((artifact) => artifact.id);
    expect(ids).not.toContain(first.id);
    expect(ids).toContain(second.id);
  });

  check('builds again after its cache was removed, also when there was none', async () => {
    await under().builder.removeCache('fresh');
    await build(request('fresh', under().good));
    await under().builder.removeCache('fresh');
    await build(request('fresh', under().good));
  });

  check('gives the build the environment and prints no private value of it', async () => {
    const lines: string[] = [];
    const env = { CANARY: 'first-canary-value' };
    await build(request('secretive', under().talkative, { env }), (line) => lines.push(line));
    expect(lines.some((line) => line.includes('***'))).toBe(true);
    expect(lines.join('\n')).not.toContain('canary-value');
  });

  check('prints public values as they are', async () => {
    const lines: string[] = [];
    const env = { CANARY: 'second-canary-value', OTHER: 'something-else' };
    await build(request('open', under().talkative, { env, privateEnv: ['OTHER'] }), (line) => lines.push(line));
    expect(lines.join('\n')).toContain('second-canary-value');
  });

  check('builds several apps at the same time without mixing their lines', async () => {
    const printed = await Promise.all(
      ['left', 'right'].map(async (app) => {
        const lines: string[] = [];
        await build(request(app, under().talkative, { env: { CANARY: `of-${app}` }, privateEnv: [] }), (line) =>
          lines.push(line),
        );
        return lines.join('\n');
      }),
    );
    expect(printed[0]).toContain('of-left');
    expect(printed[0]).not.toContain('of-right');
    expect(printed[1]).toContain('of-right');
  });
}

function failures(check: Check, under: () => BuilderUnderTest, request: Request): void {
  const fail = async (app: string, sample: Sample, code: FailureCause): Promise<Failure> => {
    const lines: string[] = [];
    const thrown = await under()
      .builder.build(request(app, sample), (line) => lines.push(line), NEVER)
      .catch((error: unknown) => error);
    expect(thrown, lines.join('\n')).toBeInstanceOf(Failure);
    expect((thrown as Failure).code).toBe(code);
    expect((await under().artifacts.list()).filter((artifact) => artifact.app === app)).toEqual([]);
    return thrown as Failure;
  };

  check('a failed build says its exit code and last lines, and leaves no artifact', async () => {
    const failure = await fail('failing', under().failing, 'build_failed');
    expect(failure.message).toContain('7');
    expect(failure.lines).toContain('before the end');
    expect(failure.lines.length).toBeLessThanOrEqual(50);
  });

  check('a source of another platform is refused', async () => {
    const failure = await fail('foreign', under().foreign, 'no_platform');
    expect(failure.hint).not.toBe('');
    await fail('foreign', { ...under().good, platform: 'no-such-platform' }, 'no_platform');
  });

  check('a source that does not say how it starts is refused with an example', async () => {
    expect((await fail('processless', under().processless, 'no_process')).hint).toContain('web:');
  });

  check('a Procfile with a mistake is refused with its line', async () => {
    expect((await fail('garbled', under().garbled, 'invalid_config')).message).toMatch(/Procfile line \d+/);
  });

  check('a build can be cancelled while it prints, and leaves no artifact', async () => {
    const cancel = new AbortController();
    const line = (text: string): void => void (text.includes('waiting') && cancel.abort());
    const thrown = await under()
      .builder.build(request('cancelled', under().endless), line, cancel.signal)
      .catch((error: unknown) => error);
    expect((thrown as Failure).code).toBe('cancelled');
    expect((await under().artifacts.list()).filter((artifact) => artifact.app === 'cancelled')).toEqual([]);
  });

  check('a build cancelled before it began does nothing', async () => {
    const lines: string[] = [];
    const sample = request('never', under().good);
    const thrown = await under()
      .builder.build(sample, (line) => lines.push(line), AbortSignal.abort())
      .catch((error: unknown) => error);
    expect((thrown as Failure).code).toBe('cancelled');
    expect(lines).toEqual([]);
  });
}
