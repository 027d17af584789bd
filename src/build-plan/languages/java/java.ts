/** Java and other languages of its machine, with Maven or Gradle. */
import type { Tool } from '../../build-plan.ts';
import { type AppDeclaration, firstSign, type Language, type PlanParts } from '../../language.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import { NETWORK_VARIABLES } from '../network-variables.ts';
import { gradleBuild } from './gradle.ts';
import { javaVersion } from './java-version.ts';
import { mavenBuild } from './maven.ts';

const POMS = ['pom.xml'];
const GRADLE_FILES = ['build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts'];
const MAJORS = [8, 11, 17, 21, 25];

/** Where systems keep several of them, beside the directories of programs. */
const HOMES = [
  'java-N-openjdk-amd64',
  'java-N-openjdk-arm64',
  'java-N-openjdk',
  'temurin-N-jdk-amd64',
  'temurin-N-jdk-arm64',
];

function jdk(program: string): Tool {
  return {
    program,
    version: ['-version'],
    install: {
      'apt-get': 'apt-get install -y openjdk-17-jdk-headless',
      apk: 'apk add openjdk17-jdk',
      dnf: 'dnf install -y java-17-openjdk-devel',
      brew: 'brew install openjdk',
    },
    others: MAJORS.flatMap((major) =>
      HOMES.map((home) => `../lib/jvm/${home.replace('N', String(major))}/bin/${program}`),
    ),
  };
}

/** Before javac, by whose directory the build tools find theirs. */
const JAVA: Tool = { ...jdk('java'), runtime: true };
const JAVAC = jdk('javac');

export const java: Language = {
  name: 'java',
  description: 'Java, Kotlin and others, with Maven or Gradle',
  example: 'java -jar target/my-app.jar',
  signs: [...POMS, ...GRADLE_FILES],
  tools: [JAVA, JAVAC],
  inherit: [...NETWORK_VARIABLES, 'MVNW_REPOURL', 'MAVEN_ARGS', 'MAVEN_OPTS', 'GRADLE_OPTS'],
  detect: (files) => firstSign(files, { manifest: [...POMS, ...GRADLE_FILES] }),
  plan,
};

async function plan(files: SourceFiles, asked: AppDeclaration): Promise<PlanParts> {
  const isMaven = await files.exists('pom.xml');
  const wanted = await javaVersion(files, isMaven);
  const build = isMaven ? await mavenBuild(files, asked) : await gradleBuild(files, asked);
  const both = isMaven ? await files.find(...GRADLE_FILES) : null;
  return {
    ...build,
    tools: [{ ...JAVA, wanted }, { ...JAVAC, wanted }, ...build.tools],
    environment: [
      // As much of what the unit may use as leaves room for what is not on the heap.
      { name: 'JAVA_TOOL_OPTIONS', value: '-XX:MaxRAMPercentage=70 -XX:+ExitOnOutOfMemoryError', scope: 'run' },
      ...build.environment,
    ],
    notes: [...(both === null ? [] : [`pom.xml and ${both} are both there: Maven is used`]), ...(build.notes ?? [])],
  };
}
