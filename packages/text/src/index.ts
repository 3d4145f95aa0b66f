export { cutText } from "./cut-text.ts";
export { detectLanguage, type DetectedLanguage } from "./detect-language.ts";
export { foldAccents } from "./fold-accents.ts";
export { hasBadCharacters } from "./has-bad-characters.ts";
export { postgresConfigOf } from "./postgres-config.ts";
export type { BlockKind } from "./split-blocks.ts";
export { splitSentences, type Sentence } from "./split-sentences.ts";
export { questionWords, stopWords } from "./stop-words.ts";
export { tokenize, type Token } from "./tokenize.ts";
