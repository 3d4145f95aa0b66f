import { foldAccents } from "@svc/text";

/** Words that deny a statement, by language (ISO 639-1). A word that ends with "*" stands for all that begin with it. */
const DENYING: Readonly<Record<string, string>> = {
  en: "not no never none nobody nothing neither nor nowhere cannot dont cant wont doesnt isnt arent without unable impossible forbidden prohibited unavailable",
  de: "nicht nie niemals kein keine keinen keinem keiner keines nirgends niemand* nichts weder ohne unmöglich ausgeschlossen verboten untersagt",
  fr: "ne n pas jamais aucun aucune rien ni sans impossible interdit interdite",
  es: "no nunca jamás nadie nada ningún ninguno ninguna ni tampoco sin imposible prohibido prohibida",
  pt: "não nunca jamais ninguém nada nenhum nenhuma nem sem impossível proibido proibida",
  it: "non mai nessuno nessuna nessun niente nulla né senza impossibile vietato vietata",
  nl: "niet nooit geen niemand niets nergens noch zonder onmogelijk verboden",
  sv: "inte aldrig ingen inget inga ingenting utan omöjligt förbjudet",
  da: "ikke aldrig ingen intet uden umuligt forbudt",
  no: "ikke aldri ingen intet uten umulig forbudt",
  fi: "ei en et emme ette eivät ilman mahdotonta kielletty",
  pl: "nie nigdy nikt nic żaden żadna żadne bez niemożliwe zabronione",
  cs: "ne není nejsou nelze nikdy nikdo nic žádný žádná žádné bez nemožné zakázáno",
  ru: "не нет никогда никто ничего ничто ни нельзя без невозможно запрещено",
  uk: "не ні немає ніколи ніхто нічого без неможливо заборонено",
  tr: "değil yok hiç asla olmadan",
};

/** Words that restrict a statement to some cases. */
const RESTRICTING: Readonly<Record<string, string>> = {
  en: "only except unless solely exclusively",
  de: "nur außer ausschließlich lediglich ausgenommen",
  fr: "seulement uniquement sauf exclusivement hormis",
  es: "solo solamente únicamente salvo excepto exclusivamente",
  pt: "só somente apenas salvo exceto exclusivamente",
  it: "solo soltanto solamente tranne eccetto salvo esclusivamente",
  nl: "alleen slechts uitsluitend behalve tenzij",
  sv: "bara endast förutom",
  da: "kun undtagen",
  no: "bare kun unntatt",
  fi: "vain ainoastaan paitsi",
  pl: "tylko jedynie wyłącznie oprócz chyba",
  cs: "jen pouze kromě",
  ru: "только лишь кроме исключительно",
  uk: "тільки лише крім",
  tr: "sadece yalnızca hariç",
};

/** In scripts without spaces a sign within the text denies or restricts it. */
const UNSPACED = {
  denial: /[不没沒無无非勿未別别]|ない|なく|ません|ずに|できかね/u,
  restriction: /[只仅僅]|のみ|だけ|以外|除外|除く/u,
} as const;

/** What turns a statement into another one. */
export type Turn = "denial" | "restriction";

const WORDS = { denial: wordsByLanguage(DENYING), restriction: wordsByLanguage(RESTRICTING) } as const;

function wordsByLanguage(lists: Readonly<Record<string, string>>): ReadonlyMap<string, readonly string[]> {
  const known = new Map(Object.entries(lists).map(([language, words]) => [language, foldAccents(words).split(" ")]));
  // Norwegian has two codes: "nb" is Bokmål.
  return known.set("nb", known.get("no") ?? []);
}

/** Returns whether a text denies or restricts what it states; null where no words of its language are known. */
export function hasTurn(text: string, turn: Turn, language: string): boolean | null {
  if (language === "zh" || language === "ja") return UNSPACED[turn].test(text);
  const known = WORDS[turn].get(language);
  if (known === undefined) return null;
  const words = foldAccents(text.toLowerCase().replace(/[’ʼ]/g, "'")).match(/[\p{L}\p{M}']+/gu) ?? [];
  return words.some((word) => {
    // "can't", "n'est", "l'aucun": what stands before or behind the apostrophe is a word as well.
    if (turn === "denial" && language === "en" && word.endsWith("n't")) return true;
    return word.split("'").some((part) => known.some((one) => isWord(part, one)));
  });
}

function isWord(word: string, listed: string): boolean {
  return listed.endsWith("*") ? word.startsWith(listed.slice(0, -1)) : word === listed;
}
