import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.neo4j.configuration.GraphDatabaseSettings;
import org.neo4j.configuration.connectors.BoltConnector;
import org.neo4j.configuration.helpers.SocketAddress;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;
import org.neo4j.io.ByteUnit;

/** Neo4j Community with Bolt on loopback: `Server FOLDER PORT`, the password of user neo4j in KEDGE_NEO4J_PASSWORD. */
public final class Server {
    public static void main(String[] arguments) {
        var address = new SocketAddress("127.0.0.1", Integer.parseInt(arguments[1]));
        var service = new DatabaseManagementServiceBuilder(Path.of(arguments[0]))
                .setConfig(BoltConnector.enabled, true)
                .setConfig(BoltConnector.listen_address, address)
                .setConfig(BoltConnector.advertised_address, address)
                .setConfig(GraphDatabaseSettings.auth_enabled, true)
                // Tests fill and empty the database all the time; planning anew each time would take longer than they do.
                .setConfig(GraphDatabaseSettings.cypher_min_replan_interval, Duration.ofMinutes(10))
                .setConfig(GraphDatabaseSettings.pagecache_memory, ByteUnit.mebiBytes(64))
                .build();
        Runtime.getRuntime().addShutdownHook(new Thread(service::shutdown));
        service.database(GraphDatabaseSettings.SYSTEM_DATABASE_NAME).executeTransactionally(
                "ALTER USER neo4j SET PASSWORD $password CHANGE NOT REQUIRED",
                Map.of("password", System.getenv("KEDGE_NEO4J_PASSWORD")));
        System.out.println("started");
    }
}
