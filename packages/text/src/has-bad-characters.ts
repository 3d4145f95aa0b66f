/**
 * Whether a text holds NUL, which PostgreSQL stores in no text, or a lone surrogate, which is no character and has no
 * UTF-8 form. Such texts are refused at the door; nothing is repaired.
 */
export function hasBadCharacters(text: string): boolean {
  // With the flag `u`, a surrogate that is part of a pair is seen as its character and does not match.
  return text.includes("\0") || /\p{Surrogate}/u.test(text);
}
