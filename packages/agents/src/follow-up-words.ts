/** The words by which a language goes on with what was said. Lists are separated by spaces, phrases by commas. */
export interface FollowUpWords {
  /** A message that begins with one of these goes on with the one before. */
  beginnings: string;
  /** The same for several words. */
  phrases: string;
  /** Words that stand for what was spoken of. */
  pronouns: string;
  /** Words that do so only where no noun follows them: elsewhere they are articles. */
  articles: string;
  /** Words that ask for more than was said, and those that ask why. */
  more: string;
  /** Verbs that say no more beside such a word: "give an example". */
  requests?: string;
}

/** Phrases in which a pronoun stands for nothing. */
export const EMPTY_PRONOUN_PHRASES: readonly string[] = [
  "is it possible",
  "gibt es",
  "ist es möglich",
  "est il possible",
  "existe t il",
  "y a t il",
  "is het mogelijk",
  "går det att",
  "är det möjligt",
  "finns det",
  "er det muligt",
  "er det mulig",
  "findes det",
  "finnes det",
  "går det an",
];

/** For the languages that PostgreSQL has a stemmer for, as ISO 639-1. */
export const FOLLOW_UP_WORDS: Readonly<Record<string, FollowUpWords>> = {
  ar: {
    beginnings: "و أو لكن أيضا",
    phrases: "وماذا عن, ماذا عن, وكيف, ولماذا, ومتى, وهل, وعلى, وفي, وبالنسبة",
    pronouns: "هو هي ذلك هذا هذه تلك عنه عنها فيه فيها منه له لها بها به",
    articles: "",
    more: "مثال مثالا المزيد تفاصيل لماذا كيف متى أين كم",
  },
  ca: {
    beginnings: "i o però també",
    phrases: "què passa amb, i què, i si",
    pronouns: "això allò ell ella ells elles hi",
    articles: "el la els les ho",
    more: "perquè exemple exemples més detalls detall explicar",
    requests: "donar",
  },
  da: {
    beginnings: "og eller men også",
    phrases: "hvad med, hvad så med",
    pronouns: "det den dem denne dette disse deri dertil derfor",
    articles: "",
    more: "hvorfor eksempel eksempler mere detaljer forklare uddybe",
    requests: "give vise",
  },
  de: {
    beginnings: "und oder aber auch",
    phrases: "was ist mit, wie ist es mit, wie sieht es mit, wie steht es mit, gilt das auch",
    pronouns: "es er ihn ihm dafür damit davon darin dazu daran darauf darüber dabei dort dieser dieses diese diesen",
    articles: "das die der den dem",
    more: "warum wieso weshalb beispiel beispiele mehr details genauer erklären ausführlicher",
    requests: "geben zeigen nennen",
  },
  el: {
    beginnings: "και κι ή αλλά επίσης",
    phrases: "τι γίνεται με, τι ισχύει για",
    pronouns: "αυτό αυτός αυτή αυτά εκεί",
    articles: "το την τον τα",
    more: "παράδειγμα περισσότερα λεπτομέρειες γιατί πώς πότε πού πόσο",
  },
  en: {
    beginnings: "and or but also plus",
    phrases: "what about, how about, what if, same for, is that also, is it also",
    pronouns: "it its they them their that this those these one",
    articles: "",
    more: "why example examples details detail explain elaborate else more",
    requests: "give show tell",
  },
  es: {
    beginnings: "y e o pero también tambien",
    phrases: "qué hay de, que hay de, qué pasa con, que pasa con, y si",
    pronouns: "eso esto ello él ella ellos ellas ese esa aquello",
    articles: "lo la los las",
    more: "porqué ejemplo ejemplos más mas detalles detalle explicar explicarlo",
    requests: "dar dame mostrar",
  },
  eu: {
    beginnings: "eta edo baina ere",
    phrases: "zer gertatzen da",
    pronouns: "hori hura hau horrek horretarako horrekin",
    articles: "",
    more: "zergatik adibide adibidea gehiago xehetasun xehetasunak azaldu",
  },
  fi: {
    beginnings: "ja tai entä entäs mutta myös",
    phrases: "miten on",
    pronouns: "se sen sitä siinä siitä siihen ne niitä tuo tämä sillä",
    articles: "",
    more: "miksi esimerkki esimerkin lisää tarkemmin selittää",
    requests: "antaa",
  },
  fr: {
    beginnings: "et ou mais aussi",
    phrases: "qu'en est il, quid de, quid du, et si",
    pronouns: "ça cela ceci il elle ils elles celui celle ceux celles",
    articles: "le la les l",
    more: "pourquoi exemple exemples plus détails détail expliquer davantage",
    requests: "donner donnez montrer",
  },
  ga: {
    beginnings: "agus nó ach freisin",
    phrases: "cad faoi, céard faoi",
    pronouns: "é í iad sin seo ann leis",
    articles: "",
    more: "fáth sampla samplaí tuilleadh sonraí mínigh",
  },
  hi: {
    beginnings: "और या लेकिन भी",
    phrases: "के बारे में क्या",
    pronouns: "यह वह इसे उसे इसका उसका इसकी उसकी इसके उसके ये वे इसमें उसमें",
    articles: "",
    more: "क्यों उदाहरण अधिक विवरण समझाएं ज्यादा",
  },
  hu: {
    beginnings: "és vagy de is",
    phrases: "mi a helyzet, mi van a",
    pronouns: "az ez azt ezt ő azok ezek ahhoz ehhez annak ennek arra erre abban ebben azzal ezzel",
    articles: "az",
    more: "miért példa példát több részletek részletesebben magyarázd",
    requests: "mondana adna",
  },
  hy: {
    beginnings: "և եւ ու կամ բայց իսկ",
    phrases: "ինչ կասեք",
    pronouns: "դա այն սա այս այդ նրա դրա",
    articles: "",
    more: "օրինակ ավելի մանրամասն ինչու ինչպես երբ որտեղ",
  },
  id: {
    beginnings: "dan atau tapi tetapi juga lalu",
    phrases: "bagaimana dengan, bagaimana kalau, kalau untuk",
    pronouns: "itu ini dia mereka tersebut",
    articles: "",
    more: "mengapa kenapa contoh contohnya lagi detail jelaskan selengkapnya",
    requests: "berikan beri",
  },
  it: {
    beginnings: "e ed o ma anche",
    phrases: "che ne dici di, cosa succede con, e se",
    pronouns: "questo questa quello quella ciò esso essa lui lei",
    articles: "lo la li le",
    more: "perché perchè esempio esempi più altro dettagli dettaglio spiegare",
    requests: "dare fare mostrare",
  },
  lt: {
    beginnings: "ir arba o bet taip",
    phrases: "o kaip dėl, kaip dėl",
    pronouns: "tai jis ji jį ją jie jos tas ta tą šis ši jo",
    articles: "",
    more: "kodėl pavyzdys pavyzdį daugiau plačiau detaliau paaiškinti",
    requests: "pateikti",
  },
  ne: {
    beginnings: "र वा तर अनि पनि",
    phrases: "को बारेमा के",
    pronouns: "यो त्यो यसको त्यसको यसलाई त्यसलाई यसमा त्यसमा",
    articles: "",
    more: "किन उदाहरण थप विवरण",
  },
  nl: {
    beginnings: "en of maar ook",
    phrases: "hoe zit het met, wat als, geldt dat ook",
    pronouns: "het dat dit deze die ervan ermee ervoor erin daarvan daarmee daarvoor",
    articles: "het dat dit deze die",
    more: "waarom voorbeeld voorbeelden meer details uitleggen toelichten",
    requests: "geven tonen",
  },
  no: {
    beginnings: "og eller men også",
    phrases: "hva med, hva så med",
    pronouns: "det den dem denne dette disse",
    articles: "",
    more: "hvorfor eksempel eksempler mer detaljer forklare utdype",
    requests: "gi vise",
  },
  pt: {
    beginnings: "e ou mas também tambem",
    phrases: "que tal, e se",
    pronouns: "isso isto aquilo ele ela eles elas esse essa este esta",
    articles: "o a os as",
    more: "porquê exemplo exemplos mais detalhes detalhe explicar",
    requests: "dar mostrar",
  },
  ro: {
    beginnings: "și si şi sau dar iar",
    phrases: "ce ziceți de, dar despre, cum rămâne cu",
    pronouns: "asta acesta aceasta acela aceea el ea ei ele îl",
    articles: "o",
    more: "exemplu exemple mai detalii explica explicați",
    requests: "da",
  },
  ru: {
    beginnings: "а и или но также",
    phrases: "как насчёт, как насчет, что насчёт, что насчет",
    pronouns: "это этот эта эти он она оно они его её ее ему ей их там том этого этом",
    articles: "",
    more: "почему зачем пример примеры подробнее больше детали объясните поясните",
    requests: "привести приведите дать",
  },
  sr: {
    beginnings: "а и или али такође a i ili ali takođe",
    phrases: "шта је са, šta je sa, шта ако, šta ako",
    pronouns: "то он она оно они га је овај ова ово to on ona ono oni ga ovaj ova ovo",
    articles: "",
    more: "зашто zašto пример више детаље детаљније primer više detalje detaljnije objasni",
  },
  sv: {
    beginnings: "och eller men också",
    phrases: "hur är det med, vad gäller för, hur gör man",
    pronouns: "det den dem denna detta dessa",
    articles: "",
    more: "varför exempel mer fler detaljer förklara utveckla",
    requests: "ge visa",
  },
  ta: {
    beginnings: "மற்றும் அல்லது ஆனால்",
    phrases: "பற்றி என்ன",
    pronouns: "அது இது அதை இதை அதன் இதன்",
    articles: "",
    more: "உதாரணம் எடுத்துக்காட்டு மேலும் ஏன் எப்படி எப்போது எங்கே",
  },
  tr: {
    beginnings: "ve ya veya peki ama ayrıca",
    phrases: "peki ya",
    pronouns: "o bu şu onu bunu onun bunun ona buna onda bunda onlar bunlar",
    articles: "",
    more: "neden niye niçin örnek örneği daha fazla ayrıntı ayrıntılı detay açıkla",
    requests: "verir verebilir",
  },
  yi: {
    beginnings: "און אדער אָדער אבער אָבער אויך",
    phrases: "וואָס איז מיט, וואס איז מיט",
    pronouns: "עס דאָס דאס דערפֿאַר דערמיט",
    articles: "",
    more: "ביישפּיל מער פֿאַרוואָס ווי ווען וווּ",
  },
};
