/** A word with parts that are joined by marks: `K-1050`, `covid-19`, `SVC_DATA_DIR`. */
const JOINED = /(?<![\p{L}\p{N}])[\p{L}\p{N}]{1,12}(?:[-_/.][\p{L}\p{N}]{1,12}){1,3}(?![\p{L}\p{N}])/gu;

/** Least number of letters of a part that is a word of its own. */
const WORD = /^\p{L}{4,}$/u;

/**
 * The names with letters and digits that a text joins by marks, such as those of articles and errors, each as one word
 * in lower case (`K-1050` → `k1050`) with its place and those of its parts that are words as well. Takes time in
 * proportion to the text.
 */
export function findCodes(text: string): { term: string; start: number; end: number; words: string[] }[] {
  return Array.from(text.matchAll(JOINED), ({ 0: code, index }) => {
    const parts = code
      .normalize("NFKC")
      .toLowerCase()
      .split(/[-_/.]/);
    return {
      term: parts.join(""),
      start: index,
      end: index + code.length,
      words: parts.filter((part) => WORD.test(part)),
    };
  }).filter(({ term }) => /\p{L}/u.test(term) && /\p{N}/u.test(term));
}
