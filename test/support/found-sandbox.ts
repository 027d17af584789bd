/** As a program, by a home: prints what sandboxes are made of there, as JSON. */
import { probeSandbox } from '../../src/sandbox/probe.ts';

const [, , home = ''] = process.argv;
const network = { mode: 'auto', allowed: [] } as const;
const sandbox = await probeSandbox({ stateDir: `${home}/sandbox`, home, level: 'auto', network });
const { level, roots, networks, description } = sandbox;
await sandbox.close();
console.log(JSON.stringify({ level, roots, hasNetworks: networks, description }));
