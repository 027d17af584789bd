/**
 * The edge: the public listener for apps, a process of its own that knows nothing but a route table. Started as
 * `node main.js '<options as JSON>'` with the bound listener as a descriptor (listener.ts); outlives control. What it must not do: read anything but its options and table.
 */
import { staySmall } from '../lib/small-start.ts';

staySmall();
const { startEdge } = await import('./start.ts');
startEdge(process.argv[2]);
