import { request } from './world.ts';

/** What a browser without Brotli receives of these files of the dashboard, without their heads. */
export async function compressedBytes(apiUrl: string, paths: Iterable<string>): Promise<number> {
  let sum = 0;
  for (const path of paths) {
    const { headers } = await request(apiUrl, 'GET', path, { headers: { 'accept-encoding': 'gzip' } });
    if (headers['content-encoding'] !== 'gzip') throw new Error(`${path} is not compressed`);
    sum += Number(headers['content-length']);
  }
  return sum;
}
