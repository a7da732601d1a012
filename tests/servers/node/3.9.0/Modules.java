import java.util.List;
import java.util.stream.Stream;
import org.opensearch.Version;
import org.opensearch.analysis.common.CommonAnalysisModulePlugin;
import org.opensearch.index.mapper.MapperExtrasModulePlugin;
import org.opensearch.index.reindex.ReindexModulePlugin;
import org.opensearch.painless.PainlessModulePlugin;
import org.opensearch.plugins.PluginInfo;
import org.opensearch.transport.Netty4ModulePlugin;

/** The modules of a distribution that we use, as 3.x names and wants them. */
final class Modules {
    static final List<PluginInfo> ALL = Stream.of(
            Netty4ModulePlugin.class,
            CommonAnalysisModulePlugin.class,
            ReindexModulePlugin.class,
            PainlessModulePlugin.class,
            MapperExtrasModulePlugin.class)
        .map(Class::getName)
        .map(name -> new PluginInfo(name, "on the class path", "NA", Version.CURRENT, "21", name, null, List.of(), false))
        .toList();

    private Modules() {}
}
