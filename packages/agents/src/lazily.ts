/**
 * Returns a function that makes something when it is first called, and returns the same one from then on: for what
 * takes long to make and is not needed by every program that imports it.
 */
export function lazily<Made extends object>(make: () => Made): () => Made {
  let made: Made | undefined;
  return () => (made ??= make());
}
