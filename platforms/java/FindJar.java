import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import java.util.stream.Stream;

/**
 * Looks for the jar that can be started, and writes the arguments with which java starts it.
 * Arguments: the file to write, then directories, the best first; a first part "*" stands for every directory of the source.
 */
public final class FindJar {
    public static void main(String[] args) throws IOException {
        List<Path> seen = new ArrayList<>();
        for (int index = 1; index < args.length; index++) {
            List<Path> startable = new ArrayList<>();
            for (Path directory : directories(args[index])) {
                for (Path jar : jars(directory)) {
                    seen.add(jar);
                    if (hasMainClass(jar)) startable.add(jar);
                }
            }
            if (startable.size() > 1) {
                fail("Several jars can be started, and nothing says which one is the app: " + startable
                    + ". Name it in a file Procfile: web: java -jar " + startable.get(0));
            }
            if (startable.size() == 1) {
                Path jar = startable.get(0);
                Files.writeString(Path.of(args[0]), "-jar \"" + jar + "\"\n");
                System.out.println(jar);
                return;
            }
        }
        fail(seen.isEmpty()
            ? "The build has made no jar."
            : "No jar can be started, for none names a Main-Class in its manifest: " + seen
                + ". Let the build make an executable jar (Spring Boot's plugin, maven-shade-plugin, shadow), or say in a Procfile what starts the app.");
    }

    private static List<Path> directories(String pattern) throws IOException {
        if (!pattern.startsWith("*/")) return List.of(Path.of(pattern));
        try (Stream<Path> children = Files.list(Path.of(""))) {
            return children.filter(Files::isDirectory).sorted().map(child -> child.resolve(pattern.substring(2))).toList();
        }
    }

    private static List<Path> jars(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) return List.of();
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(FindJar::isApp).sorted().toList();
        }
    }

    private static boolean isApp(Path file) {
        String name = file.getFileName().toString();
        return (name.endsWith(".jar") || name.endsWith(".war"))
            && !name.matches(".*-(?:plain|sources|javadoc|tests|test-fixtures)\\.jar") && !name.startsWith("original-");
    }

    private static boolean hasMainClass(Path file) throws IOException {
        try (JarFile jar = new JarFile(file.toFile())) {
            Manifest manifest = jar.getManifest();
            return manifest != null && manifest.getMainAttributes().getValue("Main-Class") != null;
        }
    }

    private static void fail(String message) {
        System.err.println(message);
        System.exit(1);
    }
}
