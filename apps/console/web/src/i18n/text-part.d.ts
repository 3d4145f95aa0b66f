/** One part of a language's file; vite.config.ts splits it at build time. The type check compares the files as a whole. */
declare module "*.json?first" {
  const texts: import("./text-table.ts").TextsOf<"first">;
  export default texts;
}
declare module "*.json?pages" {
  const texts: import("./text-table.ts").TextsOf<"pages">;
  export default texts;
}
