/** Letters that Unicode does not decompose and that people type without their stroke or as two letters. */
const SPECIAL: Readonly<Record<string, string>> = {
  ß: "ss",
  ẞ: "SS",
  æ: "ae",
  Æ: "AE",
  œ: "oe",
  Œ: "OE",
  ø: "o",
  Ø: "O",
  đ: "d",
  Đ: "D",
  ð: "d",
  Ð: "D",
  þ: "th",
  Þ: "TH",
  ł: "l",
  Ł: "L",
  ħ: "h",
  Ħ: "H",
  ı: "i",
};

/**
 * The text without accents, for comparing what people write with and without them: `Größe` → `Grosse`, `ёлка` →
 * `елка`, `Ελλάδα` → `Ελλαδα`. Marks are dropped from Latin and Greek letters and from ё, and the optional vowel signs
 * from Arabic; elsewhere (й, Indic vowels, Japanese voicing) they make another letter and stay.
 * The result is in NFC. Its length may differ from that of the text.
 */
export function foldAccents(text: string): string {
  // Most words have nothing to fold, and the full check takes ten times as long.
  if (isAscii(text)) return text;
  return text
    .normalize("NFD")
    .replace(/([\p{Script=Latin}\p{Script=Greek}])\p{M}+/gu, "$1")
    .replace(/([еЕ])\u0308/g, "$1")
    .replace(/[\u064B-\u0652\u0670\u0640]/g, "")
    .normalize("NFC")
    .replace(/[ßẞæÆœŒøØđĐðÐþÞłŁħĦı]/g, (letter) => SPECIAL[letter] ?? letter);
}

function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) > 0x7f) return false;
  return true;
}
