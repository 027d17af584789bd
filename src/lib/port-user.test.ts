import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { skipFor } from '../../test/support/skips.ts';
import { portUser } from './port-user.ts';

const WHY = process.platform === 'linux' ? '' : 'whose a port is, is read from /proc';

it(
  'names the process that listens, its program, and the app that it is of, without what would disturb a terminal',
  skipFor(WHY),
  async () => {
    const program = `require('net').createServer().listen(0, '127.0.0.1', function () { console.log(this.address().port) })`;
    const env = { TANCHO_SANDBOX: 'blog-1', TANCHO_APP: 'blog' };
    // A command is cut off where it is long, as it is with a program far down.
    const child = spawn(process.execPath, ['-e', program, '\u001b[2J'], {
      ...{ argv0: 'node', env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const [line] = (await once(child.stdout, 'data')) as [Buffer];
      const said = portUser(Number(line.toString()));
      expect(said).toMatch(new RegExp(`^process ${child.pid} \\(node -e require.*\\) of the app "blog"$`));
      expect(said).toMatch(/^[\x20-\x7e]*$/);
    } finally {
      child.kill('SIGKILL');
    }
  },
);

it('says of a port that nobody has that it is another program, for it was a moment ago', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  expect(portUser(port)).toBe('another program');
});
