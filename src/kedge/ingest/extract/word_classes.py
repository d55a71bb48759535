"""Classes of words by which noun phrases are found without a parser. English."""

from __future__ import annotations

ARTICLE = frozenset("a an the".split())
LEADING = ARTICLE | frozenset(
    "its their our your his her some several various many most all both each every any another different "
    "certain so-called well-known popular common usual usually only just either one two three four simple "
    "classic classical standard normal ordinary regular famous special modified generic general basic following "
    "efficient more other well very quite rather main important multiple".split()
)
"""May stand before a noun phrase without being part of a name."""
COUNTING = LEADING - frozenset("standard popular common simple classic classical normal ordinary regular basic".split())
"""Of these, those that never are."""
DETERMINING = ARTICLE | frozenset(
    "this these those such its their our your his her some several many most all both each every any another no".split()
)
"""Begin a noun phrase."""
PREPOSITIONS = frozenset(
    "of in on at to for from by with as about into onto over under between through during within without "
    "against among per via across behind beyond near toward towards upon off out up down than after before "
    "until since inside outside along around plus minus versus vs".split()
)
CONJUNCTIONS = frozenset(
    "and or but nor so yet because although though while whereas if when where whether which that who whom "
    "whose since unless once thus therefore hence however then also moreover furthermore e.g i.e".split()
)
VERBAL = frozenset(
    "is are was were be been being am has have had do does did can could may might must shall should will would "
    "let lets let's not n't no never here there now we you i he she us them me one's what how why use uses used "
    "using get gets give gives given take takes make makes made find finds know knows need needs call calls "
    "called see allow allows work works run runs solve solves compute computes based contains store stores want "
    "wants show shows require requires become becomes remain remains keep keeps consider means mean denote "
    "denotes hold holds exist exists follow follows come comes go goes says say stand stands look looks lie "
    "lies explained described discussed read reads write writes provide provides supports combine combines "
    "include includes develop develops possible depending proposed meant built written designed intended "
    "consisting containing having satisfying "
    "involving denoting stretching belonging".split()
)
"""Auxiliaries, pronouns and the commonest verbs."""
CLOSED = PREPOSITIONS | CONJUNCTIONS | VERBAL
"""No noun phrase holds them."""
NEUTRAL = frozenset(
    "algorithm algorithms method methods technique techniques approach approaches structure structures theorem "
    "theorems problem problems data principle formula library libraries package protocol framework model models "
    "function functions class classes concept lemma system server database language format object objects type".split()
)
"""May follow a concept without making it another: "the Kruskal algorithm"."""
NAMING = frozenset("algorithm method theorem lemma formula principle transform structure protocol library".split())
"""Belong to the name they follow: "Euclidean algorithm"."""
THIN = frozenset(
    "time memory space number numbers value values case cases way ways idea ideas fact facts thing things "
    "result results part parts set sets element elements array arrays list lists operation operations step "
    "steps size length order answer answers query queries vertex vertices edge edges node nodes point points "
    "string strings index indices indexes character characters information property properties amount kind type "
    "types example examples solution solutions process complexity implementation implementations code formula "
    "formulas expression expressions condition conditions variable variables constant constants state states "
    "level levels position positions term terms sum sums line lines row rows column columns input output task "
    "tasks word words letter letters integer integers digit digits pair pairs side sides end ends root roots "
    "rest place places name names text texts question questions article articles section sections page pages "
    "chapter chapters lesson lessons file files proof observation trick loop loops phase phases iteration "
    "iterations notation definition assumption statement note symbol reason approach method technique algorithm "
    "algorithms structure structures problem problems theorem lemma function functions figure table image copy "
    "version versions work user users people person year years day days one ones other others same latter "
    "former following above below everything something anything nothing each comparison comparisons "
    "modification modifications variation techniques methods approaches change changes factor factors multiple "
    "lot bit help use advantage start beginning middle top bottom form forms object objects segment segments "
    "substring substrings subset subsets block blocks bound range ranges interval intervals path paths graph "
    "graphs tree trees matrix matrices equation equations system systems sequence sequences component "
    "components cell cells bits bytes request requests call calls member members procedure procedures "
    "difference differences aspect aspects argument arguments parameter parameters setting settings key keys id "
    "ids option options".split()
)
"""Heads that are no concept unless marked."""
VAGUE = frozenset(
    "first second third fourth fifth last next previous earlier later similar same different new old current "
    "given desired additional extra total above-mentioned corresponding particular whole entire single non- "
    "trivial own final opposite mentioned".split()
)
"""With which no name of a concept begins unless marked."""
NO_KIND = frozenset(
    "bit lot restriction representation usage application improvement way case part number sequence result "
    "consequence real little weaker lower higher reason question matter example kind modification extension "
    "generalization step subsection section basis series bottleneck thing one topic aspect fact "
    "idea seat location".split()
)
"""Heads that do not say what kind of thing something is."""
REACH = frozenset(
    "implementation implementations version versions variant variants construction use usage idea solution form".split()
)
"""Are passed over to what they are of, in a subject: "an implementation of …"."""
OF = frozenset(
    "concept idea notion technique method principle family class use help kind type version variant form "
    "structure variants versions types kinds forms implementation theory set sequence series number pair list "
    "hundreds thousands majority variety range fields sets series collections "
    "collection couple bunch combination capability capabilities functionality power".split()
)
"""The same, in an object: "the concept of …"."""
POINTS_AT = frozenset(
    "algorithm method technique approach structure theorem lemma protocol model system library tool format "
    "theory".split()
)
"""What a document or section may be called when it is pointed at: "this algorithm"."""
POINTS_IF_SO_CALLED = frozenset("problem task function principle rule process form knot".split())
"""The same, where its name has the word."""
