/** Gradle, by its wrapper where the source has one and its distribution can be fetched. */
import type { PlanProblem, Tool } from '../../build-plan.ts';
import type { AppDeclaration } from '../../language.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import { executableJar, findFramework, type JavaFramework } from './executable-jar.ts';
import type { JavaBuild } from './java-build.ts';

const GRADLE: Tool = {
  program: 'gradle',
  install: {
    'apt-get': 'apt-get install -y gradle',
    apk: 'apk add gradle',
    dnf: 'dnf install -y gradle',
    brew: 'brew install gradle',
  },
};
const WRAPPER = 'gradle/wrapper/gradle-wrapper.properties';
const BUILDS = [
  'build.gradle',
  'build.gradle.kts',
  'app/build.gradle',
  'app/build.gradle.kts',
  '*/build.gradle',
  '*/build.gradle.kts',
];
const APPLICATION =
  /^\s*(?:id\s*\(?\s*["']application["']|application\s*$|`?application`?\s*$|apply\s+plugin:\s*["']application["'])/;
const SHADOW = /com\.(?:github\.johnrengelman|gradleup)\.shadow/;

export async function gradleBuild(files: SourceFiles, asked: AppDeclaration): Promise<JavaBuild> {
  const isWrapped = (await files.exists('gradlew')) && (await files.exists(WRAPPER));
  const framework = await findFramework(files, BUILDS);
  const { tasks, jar } = await tasksOf(files, framework);
  const isFound = asked.processes === null && jar;
  const installed = jar ? null : await installedProgram(files);
  const found = executableJar(['build/quarkus-app', 'build/libs', '*/build/libs'], framework, 'the Gradle build');
  const run = ['--no-daemon', '--console=plain', ...tasks];
  return {
    title: `${framework?.name ?? 'Java'} with Gradle`,
    tools: isWrapped ? [] : [GRADLE],
    environment: [
      { name: 'GRADLE_USER_HOME', value: '{downloads}/gradle', scope: 'build' },
      { name: 'GRADLE_OPTS', value: '-Dorg.gradle.vfs.watch=false', scope: 'build' },
    ],
    files: [
      ...(isWrapped ? [{ from: 'java/gradle.sh', to: '.tancho/gradle.sh' }] : []),
      ...(isFound ? [found.file] : []),
    ],
    steps: [
      isWrapped
        ? { name: `./gradlew ${tasks.join(' ')}`, run: ['sh', '.tancho/gradle.sh', ...run] }
        : { name: `gradle ${tasks.join(' ')}`, run: ['gradle', ...run] },
      ...(isFound ? [found.step] : []),
    ],
    processes: jar ? { web: found.process } : installed === null ? {} : { web: installed },
    problems: !jar && installed === null && asked.processes === null ? [unnamed()] : [],
  };
}

/** `stage` is what other platforms run. */
async function tasksOf(
  files: SourceFiles,
  framework: JavaFramework | null,
): Promise<{ tasks: string[]; jar: boolean }> {
  const isIn = async (says: RegExp): Promise<boolean> => {
    for (const build of BUILDS) if (await files.hasLine(build, says)) return true;
    return false;
  };
  if (await isIn(/\btask\s+stage\b|register(?:<[^>]*>)?\(\s*["']stage["']|create\(\s*["']stage["']/))
    return { tasks: ['stage'], jar: true };
  if (framework?.name === 'Spring Boot') return { tasks: ['bootJar'], jar: true };
  if (await isIn(SHADOW)) return { tasks: ['shadowJar'], jar: true };
  if (framework === null && (await isIn(APPLICATION))) return { tasks: ['installDist'], jar: false };
  return { tasks: ['build', '-x', 'test'], jar: true };
}

/** installDist makes a script named as the project. */
async function installedProgram(files: SourceFiles): Promise<{ command: string; from: string } | null> {
  const named = await files.findLine('settings.gradle*', /^\s*rootProject\.name\s*=\s*["']([\w.-]+)["']/);
  const isAtTop = (await files.find('build.gradle', 'build.gradle.kts')) !== null;
  const name = isAtTop ? named?.match[1] : 'app';
  if (name === undefined) return null;
  const directory = isAtTop ? '' : 'app/';
  return {
    command: `${directory}build/install/${name}/bin/${name}`,
    from: named === null ? 'app' : `${named.file} line ${named.line}`,
  };
}

function unnamed(): PlanProblem {
  return {
    cause: 'no_process',
    message: 'The build makes a program that is named as the project, and settings.gradle does not name that.',
    hint: 'Add a file settings.gradle with the line: rootProject.name = "shop"   then push again.',
  };
}
