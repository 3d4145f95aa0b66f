/** Text of a message that crashes the process that works on it. */
export const POISON = "poison-5b0c1f";
