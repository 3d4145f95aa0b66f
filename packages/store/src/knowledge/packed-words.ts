/** Words of one piece. */
const PIECE_WORDS = 5_000;

/**
 * Words in pieces, those of each joined by line ends: a few long strings pass from thread to thread in an instant, a
 * million short ones do not. No word holds a line end.
 */
export function packWords(words: Iterable<string>): string[] {
  const pieces: string[] = [];
  let open: string[] = [];
  for (const word of words) {
    open.push(word);
    if (open.length < PIECE_WORDS) continue;
    pieces.push(open.join("\n"));
    open = [];
  }
  if (open.length > 0) pieces.push(open.join("\n"));
  return pieces;
}

/** The words of one piece. */
export function unpackWords(piece: string): string[] {
  return piece.split("\n");
}
