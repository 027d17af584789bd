/** An app that tries to take all there is of everything, and goes on answering as long as it is let. */
import { nodeApp } from './git.ts';

/** Each of them ends in a limit or an error, and begins anew; what one takes is never given back. */
const ACTS = `
const fs = require('node:fs'), net = require('node:net'), dgram = require('node:dgram');
const { spawn } = require('node:child_process');
const soon = (work) => setImmediate(() => { try { work(); } catch {} });
const greeds = {
  disk() {
    const block = Buffer.alloc(4 << 20, 'x');
    const files = ['./taken', process.env.HOME + '/taken', '/tmp/taken'].map((path) => fs.openSync(path, 'a'));
    const more = () => { for (const file of files) try { fs.writeSync(file, block); } catch {} setTimeout(more, 5); };
    more();
  },
  inodes() {
    fs.mkdirSync('./many', { recursive: true });
    let made = 0;
    const more = () => { for (let n = 0; n < 200; n++) try { fs.writeFileSync('./many/' + made++, ''); } catch {} setTimeout(more, 5); };
    more();
  },
  memory() {
    const taken = [];
    const more = () => { taken.push(Buffer.alloc(16 << 20, 1)); setTimeout(more, 20); };
    // It ends the whole unit, and is not to be the only one that is ever seen.
    setTimeout(more, 60000);
  },
  processes() {
    const more = () => { for (let n = 0; n < 10; n++) spawn('/bin/sleep', ['1000'], { stdio: 'ignore' }).on('error', () => {}); setTimeout(more, 50); };
    more();
  },
  descriptors() {
    const more = () => { for (let n = 0; n < 500; n++) try { fs.openSync('/dev/null'); } catch {} setTimeout(more, 20); };
    more();
  },
  ports() {
    let port = 1;
    const more = () => { for (let n = 0; n < 50 && port < 65536; n++) if (++port !== +process.env.PORT) net.createServer().on('error', () => {}).listen(port); setTimeout(more, 20); };
    more();
  },
  log() {
    const line = 'greedy '.repeat(100);
    const more = () => { for (let n = 0; n < 50; n++) console.log(line); setTimeout(more, 5); };
    more();
  },
  connections() {
    const taken = [];
    const to = dgram.createSocket('udp4').on('error', () => {});
    let host = 0;
    const more = () => {
      for (let n = 0; n < 20; n++) taken.push(net.connect(+process.env.PORT, '127.0.0.1').on('error', () => {}));
      // Of a network that is there for examples: each makes an entry in the table of connections.
      for (let n = 0; n < 100; n++) to.send('x', 1024 + (host++ % 60000), '198.51.100.' + (host % 254 + 1), () => {});
      setTimeout(more, 20);
    };
    more();
  },
};
`;

const ALL = ['disk', 'inodes', 'memory', 'processes', 'descriptors', 'ports', 'log', 'connections', 'builds'];

export const BEGIN = '/begin';

/** All, unless TANCHO_TEST_GREEDS names some of them: to find out which one it is that others notice. */
export const GREEDS = process.env['TANCHO_TEST_GREEDS']?.split(',') ?? ALL;

/** Takes time, memory and disk for some seconds, and fails. */
export function greedyBuild(): Record<string, string> {
  const code =
    "const end = Date.now() + 5000; let n = 0; while (Date.now() < end) require('fs').writeFileSync('taken' + n++ % 50, Buffer.alloc(1 << 20, n)); process.exit(1);";
  return { ...nodeApp(''), 'tancho.yaml': JSON.stringify({ hooks: { build: [`node -e "${code}"`] } }) };
}

/** One process for each greed, so that the end of one ends no other. Each life of it begins them when BEGIN is asked for: it is up by then. */
export function greedyApp(): Record<string, string> {
  return {
    ...nodeApp(''),
    'greeds.js': `${ACTS}\nprocess.on('uncaughtException', () => {});\ngreeds[process.argv[2]]();\n`,
    'server.js': `const { spawn } = require('node:child_process');
let isBegun = false;
const beginAll = () => {
  isBegun = true;
  const begin = (greed) => spawn(process.execPath, ['greeds.js', greed], { stdio: greed === 'log' ? 'inherit' : 'ignore' })
    .on('error', () => {}).on('exit', () => setTimeout(begin, 500, greed));
  for (const greed of ${JSON.stringify(GREEDS.filter((greed) => greed !== 'builds'))}) begin(greed);
};
require('node:http').createServer((req, res) => {
  if (req.url === ${JSON.stringify(BEGIN)} && !isBegun) beginAll();
  res.end('greedy');
}).listen(process.env.PORT);
`,
  };
}
