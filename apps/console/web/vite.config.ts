import { readFileSync } from "node:fs";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defaultClientConditions, defineConfig } from "vite";
import type { Plugin } from "vite";

/** Where the console's server answers while the web app is developed. */
const SERVER = `http://127.0.0.1:${process.env["SVC_CONSOLE_PORT"] ?? "31418"}`;
const SERVER_PATHS = ["/api", "/session", "/sessions", "/sign-in-ways", "/events", "/presence", "/oidc", "/link/look"];

/** The letters of most languages are fetched with the page, so that they are there when it is first drawn. */
const preloadFont: Plugin = {
  name: "preload-font",
  transformIndexHtml: {
    order: "post",
    handler(_, { bundle = {} }) {
      const font = Object.keys(bundle).find((file) => /inter-latin-wght-normal-[\w-]+\.woff2$/.test(file));
      if (font === undefined) return [];
      const attrs = { rel: "preload", as: "font", type: "font/woff2", crossorigin: "", href: `/${font}` };
      return [{ tag: "link", attrs, injectTo: "head" }];
    },
  },
};

/** Loads one part of a language's file (`de.json?pages`), so that the list of the inbox does not load the texts of tickets
 * and of all other pages. */
const textParts: Plugin = {
  name: "text-parts",
  enforce: "pre",
  load(id) {
    const [, file, part] = /^(.+\/i18n\/\w+\.json)\?(first|ticket|pages)$/.exec(id) ?? [];
    if (file === undefined || part === undefined) return null;
    this.addWatchFile(file);
    const texts = JSON.stringify(JSON.parse(readFileSync(file, "utf8"))[part]);
    return { code: `export default ${texts};`, moduleType: "js" };
  },
};

export default defineConfig({
  plugins: [textParts, react(), tailwindcss(), preloadFont],
  resolve: { conditions: ["@svc/source", ...defaultClientConditions] },
  build: {
    outDir: "../dist-web",
    emptyOutDir: true,
    target: ["chrome123", "edge123", "firefox121", "safari17.5"],
    // The page's policy allows no inline script and no `data:` font.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: "build-manifest.json",
    rolldownOptions: {
      output: {
        // The names of all pages that share a file would be its name.
        chunkFileNames: ({ name }) => `assets/${name.replace(/^pages~.*$/, "pages")}-[hash].js`,
        // What every page needs, in one file that changes only with the libraries.
        codeSplitting: {
          groups: [
            {
              name: "libraries",
              test: /node_modules[\\/](?:\.pnpm[\\/])?(?:react|react-dom|scheduler|@tanstack)[@\\/+]/,
              priority: 2,
            },
            // All else that is needed before any page is; where it begins stays the entry of index.html.
            {
              name: "shared",
              test: /^(?!.*(?:[\\/]main\.tsx|\.html|\.css)$)/,
              tags: ["$initial"],
              priority: 1,
            },
            // What menus and lists to choose from need besides: none of it is in a file that a page needs at first.
            {
              name: "menus",
              test: /node_modules[\\/].*(?:cmdk|react-(?:dialog|menu|dropdown-menu|remove-scroll))[@\\/+]|[\\/]ui[\\/](?:menu-parts|pick-list)\.tsx$/,
              priority: 0.5,
            },
            // What several pages need is a few files rather than dozens; none has what its pages do not need.
            {
              name: "pages",
              test: /[\\/](?:node_modules|src[\\/](?:api|lists|session|ui))[\\/]/,
              minShareCount: 3,
              entriesAware: true,
              entriesAwareMergeThreshold: 4_000,
            },
          ],
        },
      },
    },
  },
  server: { proxy: Object.fromEntries(SERVER_PATHS.map((path) => [path, { target: SERVER, changeOrigin: false }])) },
});
