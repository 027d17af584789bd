import { satisfies } from 'semver';
import { describe, expect, it } from 'vitest';
import { sourceOf } from '../../../../test/support/memory-source.ts';
import type { BuildPlan } from '../../build-plan.ts';
import { planSource } from '../../plan-source.ts';
import { java } from './java.ts';

async function plan(files: Readonly<Record<string, string>>): Promise<BuildPlan> {
  return (await planSource({ app: 'shop', platform: 'java', languages: [java], files: sourceOf(files) })).plan;
}

const POM = (inside: string): string => `<project>\n${inside}\n</project>`;
const SPRING = POM('<parent><artifactId>spring-boot-starter-parent</artifactId></parent>');
const stepsOf = ({ steps }: BuildPlan): string[] => steps.map(({ run }) => run.join(' '));
const web = ({ processes }: BuildPlan): string | undefined => processes['web']?.command;

describe('Maven', () => {
  it('packages, by its wrapper where there is one, and starts the jar that can be started', async () => {
    const made = await plan({ 'pom.xml': SPRING });
    expect(made.title).toBe('Spring Boot with Maven');
    expect(stepsOf(made)).toEqual([
      'mvn -B -ntp -DskipTests -Dmaven.repo.local={downloads}/m2/repository package',
      'java .tancho/FindJar.java .tancho/app.args target/quarkus-app target */target/quarkus-app */target',
    ]);
    expect(web(made)).toBe('SERVER_PORT=$PORT exec java @.tancho/app.args');
    const wrapped = await plan({ 'pom.xml': SPRING, mvnw: '', '.mvn/wrapper/maven-wrapper.properties': '' });
    expect(stepsOf(wrapped)[0]).toMatch(/^sh \.\/mvnw -B/);
    expect(wrapped.tools.map(({ program }) => program)).toEqual(['java', 'javac']);
  });

  it('of an app that says what it starts looks for nothing', async () => {
    const made = await plan({ 'pom.xml': POM(''), Procfile: 'web: java -jar target/a.jar' });
    expect([made.files, stepsOf(made).length, web(made)]).toEqual([[], 1, 'java -jar target/a.jar']);
  });

  it('that makes a war is refused, but for Spring Boot and who brings a server', async () => {
    const war = POM('  <packaging>war</packaging>');
    expect((await plan({ 'pom.xml': war })).problems).toMatchObject([
      { cause: 'no_process', message: expect.stringContaining('pom.xml line 2 makes a war') as string },
    ]);
    expect((await plan({ 'pom.xml': war, Procfile: 'web: java -jar x' })).problems).toEqual([]);
    expect((await plan({ 'pom.xml': war + SPRING })).problems).toEqual([]);
  });
});

describe('Gradle', () => {
  const WRAPPER = { gradlew: '', 'gradle/wrapper/gradle-wrapper.properties': '' };

  it.each<[Record<string, string>, string, string | undefined]>([
    [
      { 'build.gradle': "plugins { id 'org.springframework.boot' version '3' }" },
      'bootJar',
      'SERVER_PORT=$PORT exec java @.tancho/app.args',
    ],
    [{ 'build.gradle.kts': 'id("com.gradleup.shadow")' }, 'shadowJar', 'java @.tancho/app.args'],
    [{ 'build.gradle': 'task stage(dependsOn: x)' }, 'stage', 'java @.tancho/app.args'],
    [
      { 'build.gradle': "  id 'application'", 'settings.gradle': "rootProject.name = 'till'" },
      'installDist',
      'build/install/till/bin/till',
    ],
    [
      { 'app/build.gradle.kts': '    application\n', 'settings.gradle.kts': 'rootProject.name = "x"' },
      'installDist',
      'app/build/install/app/bin/app',
    ],
    [{ 'build.gradle': '' }, 'build -x test', 'java @.tancho/app.args'],
  ])('%j runs %s', async (files, task, command) => {
    const made = await plan({ ...WRAPPER, ...files });
    expect(stepsOf(made)[0]).toBe(`sh .tancho/gradle.sh --no-daemon --console=plain ${task}`);
    expect(web(made)).toBe(command);
  });

  it('without its wrapper is the one of the server', async () => {
    const made = await plan({ 'build.gradle': '' });
    expect(made.tools.map(({ program }) => program)).toEqual(['java', 'javac', 'gradle']);
  });
});

it.each<[Record<string, string>, string, string, string]>([
  [{ 'pom.xml': POM('<java.version>21</java.version>') }, 'pom.xml line 2', '25.0.1', '17.0.1'],
  [{ 'pom.xml': POM('<maven.compiler.source>1.8</maven.compiler.source>') }, 'pom.xml line 2', '1.8.0', '1.7.0'],
  [
    { 'pom.xml': POM(''), 'system.properties': 'java.runtime.version=17' },
    'system.properties line 1',
    '17.0.2',
    '11.0.1',
  ],
  [{ 'pom.xml': POM(''), '.sdkmanrc': 'java=21.0.2-tem' }, '.sdkmanrc line 1', '21.0.2', '17.0.1'],
  [{ 'pom.xml': POM(''), '.tool-versions': 'java temurin-21.0.1' }, '.tool-versions line 1', '21.0.2', '17.0.1'],
  [{ 'build.gradle': 'languageVersion = JavaLanguageVersion.of(21)' }, 'build.gradle line 1', '21.0.2', '25.0.1'],
  [
    { 'build.gradle.kts': 'java.sourceCompatibility = JavaVersion.VERSION_17' },
    'build.gradle.kts line 1',
    '21.0.2',
    '11.0.1',
  ],
])('the version that %j asks for', async (files, from, fits, not) => {
  const wanted = (await plan(files)).tools[0]?.wanted;
  expect(wanted?.from).toBe(from);
  expect([satisfies(fits, wanted?.range ?? ''), satisfies(not, wanted?.range ?? '')]).toEqual([true, false]);
});
