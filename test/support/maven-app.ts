/** A Java server that Maven builds, for tests that push or build one. */

/** `mainClass` null: a jar that cannot be started. */
export function mavenProject(mainClass: string | null, packaging: 'jar' | 'war' = 'jar'): string {
  const manifest = mainClass === null ? '' : `<mainClass>${mainClass}</mainClass>`;
  return `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>demo</groupId><artifactId>shop</artifactId><version>1</version>
  <packaging>${packaging}</packaging>
  <properties>
    <maven.compiler.source>11</maven.compiler.source>
    <maven.compiler.target>11</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <build><plugins><plugin>
    <groupId>org.apache.maven.plugins</groupId><artifactId>maven-jar-plugin</artifactId><version>3.3.0</version>
    <configuration><archive><manifest>${manifest}</manifest></archive></configuration>
  </plugin></plugins></build>
</project>
`;
}

/** Its class is `demo.Shop`. */
export function javaShop(page: string): Readonly<Record<string, string>> {
  const source = `package demo;

import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;

public class Shop {
  public static void main(String[] args) throws Exception {
    HttpServer server = HttpServer.create(new InetSocketAddress(Integer.parseInt(System.getenv("PORT"))), 0);
    byte[] page = ${JSON.stringify(page)}.getBytes();
    server.createContext("/", exchange -> {
      exchange.sendResponseHeaders(200, page.length);
      exchange.getResponseBody().write(page);
      exchange.close();
    });
    server.start();
  }
}
`;
  return { 'src/main/java/demo/Shop.java': source };
}
