/** Which of many versions people are offered. Pure. */
import { compare, prerelease, valid } from 'semver';

const FEW_MAJORS = 2;

/** The newest of each major version; where these are hardly any, of each minor one. In order, the newest last. */
export function newestOfEach(versions: readonly string[], most: number): string[] {
  const whole = versions.filter((version) => valid(version) !== null && prerelease(version) === null).sort(compare);
  const newest = (parts: number): string[] => [
    ...new Map(whole.map((version) => [version.split('.', parts).join('.'), version])).values(),
  ];
  const majors = newest(1);
  return (majors.length < FEW_MAJORS ? newest(2) : majors).slice(-most);
}
