import { foldAccents } from "@svc/text";
import { z } from "zod";
import { createLanguageFiles, phrases } from "../language-files.ts";

/** A file of `data/turns`: words that deny or restrict a statement; "*" at the end stands for all words that begin so. */
const turnsSchema = z.strictObject({ denial: phrases, restriction: phrases });

const turnsOf = createLanguageFiles("turns", turnsSchema);

/** In scripts without spaces a sign within the text denies or restricts it. */
const UNSPACED = {
  denial: /[不没沒無无非勿未別别]|ない|なく|ません|ずに|できかね/u,
  restriction: /[只仅僅]|のみ|だけ|以外|除外|除く/u,
} as const;

/** What turns a statement into another one. */
export type Turn = "denial" | "restriction";

/** Returns whether a text denies or restricts what it states; null where no words of its language are known. */
export function hasTurn(text: string, turn: Turn, language: string): boolean | null {
  if (language === "zh" || language === "ja") return UNSPACED[turn].test(text);
  // Norwegian has two codes: "nb" is Bokmål.
  const known = turnsOf(language === "nb" ? "no" : language)?.[turn].map(foldAccents);
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
