/** A style sheet is imported as its text, minified by the build. */
declare module "*.css" {
  const text: string;
  export default text;
}
