import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;

/**
 * One OpenSearch node on loopback in this JVM: {@code TestNode HOME [setting=value ...]}. It takes a free port, writes it to
 * HOME/logs/http.ports, and ends well on SIGTERM.
 */
public class TestNode extends Node {
    private static final String NAME = "test";

    TestNode(Environment environment) {
        super(environment, Modules.ALL, false);
    }

    public static void main(String[] arguments) throws Exception {
        Path home = Path.of(arguments[0]).toAbsolutePath();
        for (String folder : List.of("config", "data", "logs", "modules", "plugins")) {
            Files.createDirectories(home.resolve(folder));
        }
        Settings.Builder settings = Settings.builder()
            .put("path.home", home.toString())
            .put("cluster.name", NAME)
            .put("node.name", NAME)
            .put("node.portsfile", true)
            .put("discovery.type", "single-node")
            .put("network.host", "127.0.0.1")
            .put("http.port", "0")
            .put("transport.port", "0")
            // Every test makes indices of its own.
            .put("cluster.max_shards_per_node", 5000)
            // How full the disk of a developer is decides no test; a test that needs a block sets it.
            .put("cluster.routing.allocation.disk.threshold_enabled", false);
        for (int place = 1; place < arguments.length; place++) {
            String[] pair = arguments[place].split("=", 2);
            settings.put(pair[0], pair[1]);
        }
        Node node = new TestNode(InternalSettingsPreparer.prepareEnvironment(settings.build(), Map.of(), null, () -> NAME));
        CountDownLatch closed = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                node.close();
            } catch (Exception failure) {
                failure.printStackTrace();
            }
            closed.countDown();
        }));
        node.start();
        closed.await();
    }
}
