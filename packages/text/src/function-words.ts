import { STOP_WORD_LANGUAGES, stopWords } from "./stop-words.ts";

/** What people write in short messages and what tells their language, though it is no stop word. */
const GREETINGS: Readonly<Record<string, string>> = {
  ca: "hola gràcies bon dia",
  cs: "ahoj děkuji díky dobrý den prosím",
  da: "hej tak godmorgen goddag venligst",
  de: "hallo guten tag morgen abend danke bitte moin servus grüße",
  en: "hello hi hey thanks thank please help good morning",
  es: "hola gracias buenos buenas días tardes favor ayuda",
  et: "tere aitäh palun",
  eu: "kaixo eskerrik egun on mesedez",
  fi: "hei moi kiitos hyvää päivää terve",
  fr: "bonjour bonsoir salut merci svp",
  ga: "dia duit maith agat raibh",
  hu: "szia köszönöm kérem jó napot üdvözlöm",
  id: "halo terima kasih selamat pagi siang tolong mohon",
  it: "ciao buongiorno buonasera grazie salve aiuto favore",
  lt: "labas ačiū prašau diena",
  nl: "hallo hoi bedankt goedemorgen goedemiddag goedendag dank alstublieft",
  no: "hei takk hallo vennligst god morgen",
  pl: "cześć dziękuję dzień dobry proszę witam",
  pt: "olá oi obrigado obrigada bom dia boa tarde favor ajuda",
  ro: "bună salut mulțumesc multumesc ziua rog",
  ru: "привет здравствуйте спасибо пожалуйста добрый день",
  sr: "здраво хвала молим zdravo hvala molim dobar dan",
  sv: "hej tack hejsan snälla",
  tr: "merhaba teşekkürler teşekkür ederim selam lütfen günaydın",
  uk: "привіт дякую вітаю добрий день",
};

/**
 * For each function word and greeting, the languages that have it, each with its weight: 1 when it is alone with it,
 * the smaller the more others share it, for then the word tells little.
 */
export const FUNCTION_WORD_WEIGHTS: ReadonlyMap<string, readonly (readonly [language: string, weight: number])[]> =
  weighWords();

function weighWords(): Map<string, [string, number][]> {
  const languagesOf = new Map<string, string[]>();
  for (const language of STOP_WORD_LANGUAGES) {
    const greetings = (GREETINGS[language] ?? "").split(" ").filter((word) => word !== "");
    for (const word of new Set([...stopWords(language), ...greetings])) {
      languagesOf.set(word, [...(languagesOf.get(word) ?? []), language]);
    }
  }
  return new Map(
    [...languagesOf].map(([word, languages]) => [
      word,
      languages.map((language): [string, number] => [language, 1 / languages.length]),
    ]),
  );
}
