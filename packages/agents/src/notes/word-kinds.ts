/** What kind of word a word is, for how corrections are made: what is put right is mostly of the same kind. */
export type WordKind = "ask" | "verb" | "article" | "place" | "and" | "person" | "not" | "number" | "name" | "word";

/**
 * The commonest words of each kind, by language (ISO 639-1). The weights of corrections were fitted with those of English;
 * in other languages, words that would be read as the beginning of a question have none.
 */
const WORDS: Readonly<Record<string, Partial<Record<WordKind, string>>>> = {
  en: {
    ask: "what which who whom whose when where why how",
    verb: "is are was were be been do does did can could has have had will would should may might must isn't doesn't didn't wasn't",
    article: "the a an this that these those its their his her our your my some any all each every another last next",
    place:
      "of in on at by for from to with as into about between over under after before during through against among within without per than around toward towards near outside inside since until upon",
    and: "and or but nor if because while",
    person: "it they he she we you i them him us me one there",
    not: "not never",
    number:
      "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million first second third fourth fifth",
  },
  de: {
    article:
      "der die das den dem des ein eine einen einem einer eines mein meine sein seine ihr ihre unser unsere dieser diese dieses",
    place: "in im an am auf bei beim zu zum zur von vom für mit nach bis um aus über unter vor hinter neben seit",
    and: "und oder aber weil wenn",
    person: "er sie es wir ich du ihn ihm ihnen mir mich uns",
    not: "nicht nie",
    number:
      "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig hundert zweihundert dreihundert tausend erste zweite dritte ersten zweiten dritten",
  },
  fr: {
    article: "le la les un une des mon ma mes son sa ses notre nos votre vos leur leurs ce cette ces",
    place: "de du à au aux en dans sur sous chez pour par avec sans entre vers depuis avant après",
    and: "et ou mais car",
    person: "il elle ils elles on je tu nous vous lui",
    not: "pas jamais",
    number:
      "deux trois quatre cinq six sept huit neuf dix onze douze vingt trente quarante cinquante cent mille premier deuxième troisième",
  },
  es: {
    article: "el la los las un una unos unas mi mis su sus nuestro nuestra este esta estos estas ese esa",
    place: "de del a al en con por para sin sobre entre hasta desde hacia",
    and: "y o pero porque",
    person: "él ella ellos ellas yo tú nosotros usted ustedes le les",
    number:
      "dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa cien doscientos doscientas trescientos trescientas quinientos quinientas mil primer primero segundo tercero",
  },
  it: {
    article: "il lo la i gli le un uno una mio mia suo sua nostro nostra questo questa",
    place: "di del della a ad al alla da dal in nel nella con su sul per tra fra fino",
    and: "e o ma perché",
    person: "lui lei loro io tu noi voi",
    number:
      "due tre quattro cinque sei sette otto nove dieci undici dodici venti trenta quaranta cinquanta cento mille primo secondo terzo",
  },
  pt: {
    article: "o a os as um uma meu minha seu sua nosso nossa este esta esse essa",
    place: "de do da em no na nos nas ao à por pelo pela para com sem sobre entre até desde",
    and: "e ou mas porque",
    person: "ele ela eles elas eu nós você vocês",
    number:
      "dois duas três quatro cinco seis sete oito nove dez onze doze vinte trinta quarenta cinquenta cem mil primeiro segundo terceiro",
  },
  nl: {
    article: "de het een mijn zijn haar onze ons dit deze dat die",
    place: "in op aan bij voor van naar met om uit over onder tot sinds na tussen door",
    and: "en of maar want omdat",
    person: "hij zij ze we wij ik je jij hem hen",
    not: "niet nooit",
    number:
      "twee drie vier vijf zes zeven acht negen tien elf twaalf twintig dertig veertig vijftig honderd duizend eerste tweede derde",
  },
  pl: {
    article: "ten ta to mój moja nasz nasza jego jej",
    place: "w we na z ze do od o u po za przy przed nad pod dla bez przez",
    and: "i oraz lub albo ale bo",
    person: "on ona oni one ja ty my wy",
    number:
      "dwa dwie trzy cztery pięć sześć siedem osiem dziewięć dziesięć jedenaście dwanaście dwadzieścia trzydzieści sto tysiąc",
  },
  ru: {
    article: "этот эта это мой моя наш наша его её их",
    place: "в во на с со к ко у о об от до из за по при перед над под для без через",
    and: "и или но потому",
    person: "он она они я ты мы вы",
    not: "не",
    number:
      "два две три четыре пять шесть семь восемь девять десять одиннадцать двенадцать двадцать тридцать сорок пятьдесят сто тысяча",
  },
  uk: {
    article: "цей ця це мій моя наш наша його її їх",
    place: "в у на з із зі до від о об за по при перед над під для без через",
    and: "і й та або але",
    person: "він вона вони я ти ми ви",
    not: "не",
    number:
      "два дві три чотири п'ять шість сім вісім дев'ять десять одинадцять дванадцять двадцять тридцять сорок п'ятдесят сто тисяча",
  },
  tr: {
    article: "bu şu o benim bizim onun",
    and: "ve veya ama çünkü",
    person: "ben sen biz siz onlar",
    number: "iki üç dört beş altı yedi sekiz dokuz on onbir oniki yirmi otuz kırk elli yüz bin",
  },
};

type Kinds = ReadonlyMap<string, WordKind>;

const KINDS: ReadonlyMap<string, Kinds> = new Map(
  Object.entries(WORDS).map(([language, kinds]) => [
    language,
    new Map(
      Object.entries(kinds).flatMap(([kind, words]) =>
        words.split(" ").map((word): [string, WordKind] => [word, kind as WordKind]),
      ),
    ),
  ]),
);

const NONE: Kinds = new Map();

/** The kinds of the words of a language, by their form in lower case; none for a language that is not known. */
export const wordKinds = (language: string): Kinds => KINDS.get(language) ?? NONE;
