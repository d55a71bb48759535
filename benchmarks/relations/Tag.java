import java.io.BufferedReader;
import java.io.File;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import opennlp.tools.postag.POSModel;
import opennlp.tools.postag.POSTaggerME;

/** Tags sentences, one a line with blanks between words: MODEL TEXTS TAGS. */
public class Tag {
    public static void main(String[] args) throws Exception {
        POSTaggerME tagger = new POSTaggerME(new POSModel(new File(args[0])));
        try (BufferedReader texts = Files.newBufferedReader(Path.of(args[1]));
                PrintWriter tags = new PrintWriter(Files.newBufferedWriter(Path.of(args[2])))) {
            for (String line = texts.readLine(); line != null; line = texts.readLine()) {
                tags.println(String.join(" ", tagger.tag(line.split(" "))));
            }
        }
    }
}
