/** Maven, by its wrapper where the source has one. */
import type { PlanProblem, Tool } from '../../build-plan.ts';
import type { AppDeclaration } from '../../language.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import { executableJar, findFramework, type JavaFramework } from './executable-jar.ts';
import type { JavaBuild } from './java-build.ts';

const MAVEN: Tool = {
  program: 'mvn',
  install: {
    'apt-get': 'apt-get install -y maven',
    apk: 'apk add maven',
    dnf: 'dnf install -y maven',
    brew: 'brew install maven',
  },
};
const PACKAGE = ['-B', '-ntp', '-DskipTests', '-Dmaven.repo.local={downloads}/m2/repository', 'package'];

export async function mavenBuild(files: SourceFiles, asked: AppDeclaration): Promise<JavaBuild> {
  const isWrapped = (await files.exists('mvnw')) && (await files.exists('.mvn/wrapper/maven-wrapper.properties'));
  const framework = await findFramework(files, ['pom.xml', '*/pom.xml']);
  const jar = executableJar(['target/quarkus-app', 'target', '*/target/quarkus-app', '*/target'], framework, 'pom.xml');
  const isFound = asked.processes === null;
  const problem = isFound ? await warProblem(files, framework) : null;
  return {
    title: `${framework?.name ?? 'Java'} with Maven`,
    tools: isWrapped ? [] : [MAVEN],
    environment: [{ name: 'MAVEN_USER_HOME', value: '{downloads}/m2', scope: 'build' }],
    files: isFound ? [jar.file] : [],
    steps: [
      {
        name: `${isWrapped ? './mvnw' : 'mvn'} package`,
        run: [...(isWrapped ? ['sh', './mvnw'] : ['mvn']), ...PACKAGE],
      },
      ...(isFound ? [jar.step] : []),
    ],
    processes: { web: jar.process },
    problems: problem === null ? [] : [problem],
  };
}

async function warProblem(files: SourceFiles, framework: JavaFramework | null): Promise<PlanProblem | null> {
  const war = await files.findLine('pom.xml', /^\s*<packaging>\s*war\s*</);
  // Its wars can be started as jars are.
  if (war === null || framework?.name === 'Spring Boot') return null;
  return {
    cause: 'no_process',
    message: `pom.xml line ${war.line} makes a war, which runs in an application server, and none is here.`,
    hint: 'Bring a server with the app (for example com.heroku:webapp-runner, copied to target/dependency) and start it in a Procfile: web: java -jar target/dependency/webapp-runner.jar --port $PORT target/*.war   or make an executable jar of it.',
  };
}
