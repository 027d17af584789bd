/** The jar among those of a build that is the app. Its name is known only after the build. */
import type { AddedFile, PlannedProcess, Step } from '../../build-plan.ts';
import type { SourceFiles } from '../../source/source-files.ts';

const SCRIPT: AddedFile = { from: 'java/FindJar.java', to: '.tancho/FindJar.java' };
/** Arguments of java: `-jar` and which one. */
const ARGUMENTS = '.tancho/app.args';

/** Framework -> the variable in which it looks for its port. */
const PORTS: readonly (readonly [RegExp, string, string])[] = [
  [/spring-boot|org\.springframework\.boot/, 'Spring Boot', 'SERVER_PORT'],
  [/io\.quarkus/, 'Quarkus', 'QUARKUS_HTTP_PORT'],
  [/io\.micronaut/, 'Micronaut', 'MICRONAUT_SERVER_PORT'],
];

interface ExecutableJar {
  readonly file: AddedFile;
  readonly step: Step;
  readonly process: PlannedProcess;
}

/** `places`: directories that may hold it, the best first. */
export function executableJar(places: readonly string[], framework: JavaFramework | null, from: string): ExecutableJar {
  const port = framework === null ? '' : `${framework.port}=$PORT exec `;
  return {
    file: SCRIPT,
    step: { name: 'looking for the executable jar', run: ['java', SCRIPT.to, ARGUMENTS, ...places] },
    process: { command: `${port}java @${ARGUMENTS}`, from: framework?.name ?? from },
  };
}

export interface JavaFramework {
  readonly name: string;
  readonly port: string;
}

export async function findFramework(files: SourceFiles, patterns: readonly string[]): Promise<JavaFramework | null> {
  for (const [says, name, port] of PORTS) {
    for (const pattern of patterns) if (await files.hasLine(pattern, says)) return { name, port };
  }
  return null;
}
