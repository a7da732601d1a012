import java.util.List;
import org.opensearch.analysis.common.CommonAnalysisPlugin;
import org.opensearch.index.mapper.MapperExtrasPlugin;
import org.opensearch.index.reindex.ReindexPlugin;
import org.opensearch.painless.PainlessPlugin;
import org.opensearch.plugins.Plugin;
import org.opensearch.transport.Netty4Plugin;

/** The modules of a distribution that we use, as 2.x names them. */
final class Modules {
    static final List<Class<? extends Plugin>> ALL = List.of(
        Netty4Plugin.class, CommonAnalysisPlugin.class, ReindexPlugin.class, PainlessPlugin.class, MapperExtrasPlugin.class);

    private Modules() {}
}
