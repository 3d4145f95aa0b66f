/** A part of a language's file, which vite.config.ts splits. A test and the type check compare the whole files. */
declare module "*?first" {
  const texts: Readonly<Record<string, string | { one: string; other: string }>>;
  export default texts;
}
declare module "*?ticket" {
  const texts: Readonly<Record<string, string | { one: string; other: string }>>;
  export default texts;
}
declare module "*?pages" {
  const texts: Readonly<Record<string, string | { one: string; other: string }>>;
  export default texts;
}
