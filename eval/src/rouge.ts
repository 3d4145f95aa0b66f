// ROUGE (Lin 2004) with Porter's stemmer: how much of the words of two texts is the same. F1 of each.
import { compareTokens } from "@svc/text";
import { porterStem } from "./porter-stem.ts";

const stemsOf = (text: string) => (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).map(porterStem);
const pairsOf = (stems: readonly string[]) => stems.slice(1).map((stem, index) => `${stems[index]} ${stem}`);

export const rouge = {
  one: (text: string, reference: string) => compareTokens(stemsOf(text), stemsOf(reference)).f1,
  two: (text: string, reference: string) => compareTokens(pairsOf(stemsOf(text)), pairsOf(stemsOf(reference))).f1,
  longest: (text: string, reference: string) => compareTokens(stemsOf(text), stemsOf(reference)).rougeL,
};
