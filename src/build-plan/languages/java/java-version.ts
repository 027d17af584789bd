/** Which Java a source asks for. */
import type { WantedVersion } from '../../build-plan.ts';
import type { SourceFiles } from '../../source/source-files.ts';

interface VersionSource {
  readonly files: readonly string[];
  readonly line: RegExp;
  /** No other version does: Gradle looks for this very one. */
  readonly isExact?: boolean;
}

/** The first that says something counts. A newer Java compiles and runs what is made for an older one. */
const SOURCES: readonly VersionSource[] = [
  {
    files: ['build.gradle', 'build.gradle.kts', 'app/build.gradle', 'app/build.gradle.kts'],
    line: /JavaLanguageVersion\.of\(["']?(\d+)|jvmToolchain\((\d+)/,
    isExact: true,
  },
  { files: ['system.properties'], line: /^\s*java\.runtime\.version\s*[=:]\s*(?:\D*-)?(1\.8|\d+)/ },
  { files: ['.java-version'], line: /^\s*(?:\D*-)?(1\.8|\d+)/ },
  { files: ['.tool-versions'], line: /^\s*java\s+(?:\D*-)?(1\.8|\d+)/ },
  { files: ['.sdkmanrc'], line: /^\s*java\s*=\s*(1\.8|\d+)/ },
  {
    files: ['pom.xml'],
    line: /<(?:java\.version|maven\.compiler\.(?:release|source|target)|release|kotlin\.compiler\.jvmTarget)>\s*(1\.8|\d+)\s*</,
  },
  {
    files: ['build.gradle', 'build.gradle.kts', 'app/build.gradle', 'app/build.gradle.kts'],
    line: /(?:source|target)Compatibility\s*=?\s*(?:JavaVersion\.VERSION_(?:1_)?|["'])?(1\.8|\d+)/,
  },
];

export async function javaVersion(files: SourceFiles, isMaven: boolean): Promise<WantedVersion | null> {
  for (const { files: names, line, isExact = false } of SOURCES) {
    for (const name of names) {
      if (isMaven && name.includes('gradle')) continue;
      const found = await files.findLine(name, line);
      const text = found?.match.slice(1).find((group) => group !== undefined);
      if (found === null || text === undefined) continue;
      // Java 8 calls itself 1.8.
      const isEight = text === '8' || text === '1.8';
      const range = isEight ? (isExact ? '1.8.x' : '>=1.8.0') : `${isExact ? '' : '>='}${text}`;
      return { range, text, from: `${name} line ${found.line}` };
    }
  }
  return null;
}
