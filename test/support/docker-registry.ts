/** Debian's docker-registry, started for a test on a port of its own; null where it is not installed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '../../src/lib/find-program.ts';
import { freePort } from './free-port.ts';
import { until } from './until.ts';

interface DockerRegistry {
  readonly host: string;
  close(): Promise<void>;
}

export const DOCKER_REGISTRY = findProgram('docker-registry');

export async function startDockerRegistry(program: string): Promise<DockerRegistry> {
  const directory = mkdtempSync(join(tmpdir(), 'docker-registry-'));
  const host = `127.0.0.1:${await freePort()}`;
  const config = [
    'version: 0.1',
    'log: { level: error, accesslog: { disabled: true } }',
    `storage: { filesystem: { rootdirectory: ${join(directory, 'data')} }, delete: { enabled: true } }`,
    `http: { addr: "${host}" }`,
  ];
  const file = join(directory, 'config.yml');
  writeFileSync(file, `${config.join('\n')}\n`);
  const child = spawn(program, ['serve', file], { stdio: 'ignore' });
  const gone = once(child, 'exit');
  const close = async (): Promise<void> => {
    child.kill('SIGKILL');
    await gone;
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    const answers = (): Promise<boolean> =>
      fetch(`http://${host}/v2/`, { headers: { connection: 'close' } }).then(
        ({ ok }) => ok,
        () => false,
      );
    await until(answers, { what: 'docker-registry answers' });
    return { host, close };
  } catch (error) {
    await close();
    throw error;
  }
}
