/**
 * Settles which Node everything runs on, and leaves a link to it at .runtime/node: the machine's own when it is of the line that is tested or
 * newer, else one from the npm registry, checked against the lock file in scripts/runtime. Plain JavaScript, for Node 18 and newer.
 */
import { cpSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { alone, npmCommand, root, SetupError, step, reportAndExit } from './prepare.mjs';

/** The line that is tested, and its first release with everything that is used here. */
const OLDEST = [24, 11];
const OLDEST_TO_BEGIN_WITH = 18;

const folder = join(root, '.runtime');

/** True for a Node that the program may run on. */
function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number);
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}

function checkMachine() {
  const { platform, arch, versions } = process;
  if (Number(versions.node.split('.')[0]) < OLDEST_TO_BEGIN_WITH) {
    throw new SetupError(
      `Tancho needs Node ${OLDEST_TO_BEGIN_WITH} or newer to begin with; this is ${versions.node}.`,
      'Install a newer Node from https://nodejs.org and try again.',
    );
  }
  const isGlibc = process.report?.getReport().header.glibcVersionRuntime !== undefined;
  if (platform !== 'linux' || !['x64', 'arm64'].includes(arch) || !isGlibc) {
    const kind = platform === 'linux' && !isGlibc ? 'linux without glibc' : platform;
    throw new SetupError(
      `Tancho runs on Node ${OLDEST[0]}; this is ${versions.node}, and for ${kind} (${arch}) none can be fetched.`,
      `Install Node ${OLDEST[0]} (https://nodejs.org, or: apk add nodejs npm; brew install node@${OLDEST[0]}) and try again.`,
    );
  }
}

/** Answers the path of the binary. */
async function fetchNode() {
  checkMachine();
  const download = join(folder, 'download');
  rmSync(download, { recursive: true, force: true });
  cpSync(fileURLToPath(new URL('runtime', import.meta.url)), download, { recursive: true });
  const fetching = [...npmCommand(), 'ci', '--prefix', download, '--no-audit', '--no-fund', '--loglevel=error'];
  await step(`Fetching Node ${OLDEST[0]} (this machine has ${process.versions.node})`, fetching, {
    cwd: download,
    hint: 'Check the network and the npm registry, then try again.',
  });
  return join(download, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node');
}

/** Where it is complete or not there at all. */
function link(node) {
  const made = join(folder, `node.${process.pid}`);
  rmSync(made, { force: true });
  symlinkSync(node, made);
  renameSync(made, join(folder, 'node'));
}

try {
  mkdirSync(folder, { recursive: true });
  await alone(async () => {
    // Another one was faster; what it has fetched runs by now and must not be fetched anew under it.
    if (existsSync(join(folder, 'node'))) return;
    link(isNewEnough(process.versions.node) ? process.execPath : await fetchNode());
  });
} catch (error) {
  reportAndExit(error);
}
