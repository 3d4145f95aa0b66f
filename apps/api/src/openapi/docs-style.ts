/** The style of the page that describes the API: light and dark as the reader has it, from a phone's width up. */
export const DOCS_STYLE = `
:root {
  color-scheme: light dark;
  --ground: #ffffff; --panel: #f5f6f8; --line: #d9dde3; --text: #1b1f24; --quiet: #555e68;
  --link: #0b57b8; --strong: #a3261b;
  --get: #0b6b3a; --post: #0b57b8; --patch: #8a5200; --put: #8a5200; --delete: #a3261b;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171b; --panel: #1d2127; --line: #363c45; --text: #e5e8ec; --quiet: #a5aeb9;
    --link: #84b6ff; --strong: #ff9d92;
    --get: #6fd19a; --post: #84b6ff; --patch: #f0b860; --put: #f0b860; --delete: #ff9d92;
  }
}
*, *::before, *::after { box-sizing: border-box; }
html { scroll-padding-top: 1rem; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--ground); color: var(--text); font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
a { color: var(--link); text-underline-offset: 0.15em; }
a:focus-visible, summary:focus-visible, pre:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
code, pre { font: 0.875em/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
pre { margin: 0.5rem 0; padding: 0.75rem 1rem; background: var(--panel); border: 1px solid var(--line); border-radius: 6px; overflow-x: auto; overflow-wrap: normal; }
.skip { position: absolute; left: -100vw; padding: 0.5rem 1rem; background: var(--ground); }
.skip:focus { left: 0; top: 0; z-index: 1; }
.page { max-width: 84rem; margin: 0 auto; padding: 0 1rem 4rem; }
nav { border: 1px solid var(--line); border-radius: 6px; background: var(--panel); padding: 0.5rem 1rem; font-size: 0.9375rem; }
nav ul { list-style: none; margin: 0 0 0.5rem; padding: 0 0 0 0.75rem; }
nav li { margin: 0; }
nav a { display: block; padding: 0.2rem 0; text-decoration: none; }
nav a:hover { text-decoration: underline; }
nav summary { padding: 0.2rem 0; cursor: pointer; font-weight: 600; }
main { min-width: 0; max-width: 56rem; }
main > p:first-child { margin-top: 0.5rem; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 1.5rem 0 0.25rem; }
h2 { font-size: 1.4rem; line-height: 1.25; margin: 3rem 0 0.25rem; padding-bottom: 0.25rem; border-bottom: 2px solid var(--line); }
h3 { font-size: 1.125rem; line-height: 1.3; margin: 0; }
h3 a { color: inherit; text-decoration: none; }
h3 a:hover { text-decoration: underline; }
h4 { font-size: 0.9375rem; margin: 1.25rem 0 0.25rem; }
p { margin: 0.5rem 0; }
.version, .headers, .limits, .place { color: var(--quiet); font-size: 0.875rem; }
.operation, .schema { margin: 1.25rem 0; padding: 1rem; border: 1px solid var(--line); border-radius: 8px; }
.operation:target, .schema:target, .error:target { border-color: var(--link); outline: 2px solid var(--link); outline-offset: -1px; }
.address { margin: 0.35rem 0; }
.address code { font-size: 0.9375rem; }
.method { display: inline-block; min-width: 4.25em; font-weight: 700; font-size: 0.8125rem; letter-spacing: 0.03em; color: var(--post); }
.get { color: var(--get); } .post { color: var(--post); } .patch, .put { color: var(--patch); } .delete { color: var(--delete); }
ul.fields, ul.answers, ul.errors { list-style: none; margin: 0.25rem 0; padding: 0; }
.fields > li { padding: 0.4rem 0; border-top: 1px solid var(--line); }
.fields .fields { margin: 0.35rem 0 0; padding-left: 1rem; border-left: 3px solid var(--line); }
.answers > li { padding: 0.4rem 0; border-top: 1px solid var(--line); }
.answers > li > p:first-of-type { display: inline; }
.errors { display: flex; flex-wrap: wrap; gap: 0.15rem 1.25rem; }
.kinds { padding-left: 1.5rem; }
.name { font-weight: 700; }
.type { color: var(--quiet); }
.required { color: var(--strong); font-size: 0.8125rem; font-weight: 600; }
.status { font-weight: 700; font-variant-numeric: tabular-nums; }
.words { color: var(--quiet); margin: 0.15rem 0; }
details > summary { cursor: pointer; }
.error { padding: 0.6rem 0; border-top: 1px solid var(--line); }
.error dt { font-weight: 700; } .error dd { margin: 0 0 0.25rem; }
@media (max-width: 61.99rem) { nav { columns: 2; } nav ul { padding-left: 0.5rem; } }
@media (min-width: 62rem) {
  .page { display: grid; grid-template-columns: 17rem minmax(0, 1fr); gap: 0 2.5rem; }
  header { grid-column: 1 / -1; }
  nav { position: sticky; top: 1rem; align-self: start; max-height: calc(100vh - 2rem); overflow-y: auto; margin-top: 0.5rem; }
  .operation, .schema { padding: 1.25rem 1.5rem; }
}
@media print { nav, .skip { display: none; } .operation, .schema { break-inside: avoid; } }
`;
