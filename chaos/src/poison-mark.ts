/** What a message says that ends the process which works on it. */
export const POISON = "poison-5b0c1f";
