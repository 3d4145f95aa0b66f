import { join } from "node:path";
import type { DocPage } from "./read-doc-page.ts";
import { replaceOnce } from "./start-doc-receiver.ts";

/** A reverse proxy whose configuration a page shows. */
export interface DocProxy {
  /** Its program. */
  program: string;
  /** Language of its fenced block. */
  language: string;
  /** Adapts the block to this machine: without certificates, on `port` of loopback, with its files in `folder`. */
  adapt: (text: string, position: { port: number; folder: string }) => string;
  args: (file: string, folder: string) => string[];
}

const HOST = "chat.example.com";

export const DOC_PROXIES: readonly DocProxy[] = [
  {
    program: "nginx",
    language: "nginx",
    adapt(text, { port, folder }) {
      const plain = text.replaceAll(/^ *ssl_certificate.*\n/gm, "");
      const site = replaceOnce(plain, "listen 443 ssl;", `listen 127.0.0.1:${port};`);
      const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
        (name) => `${name}_temp_path ${join(folder, name)};`,
      );
      const main = `daemon off; error_log stderr; pid ${join(folder, "nginx.pid")}; events {}`;
      return `${main}\nhttp { access_log off; ${paths.join(" ")}\n${site}\n}\n`;
    },
    args: (file, folder) => ["-p", folder, "-e", "stderr", "-c", file],
  },
  {
    program: "caddy",
    language: "caddyfile",
    adapt: (text, { port }) =>
      `{\n\tadmin off\n\tauto_https off\n}\n${replaceOnce(text, HOST, `http://127.0.0.1:${port}`)}\n`,
    args: (file) => ["run", "--adapter", "caddyfile", "--config", file],
  },
];

/** Returns the only block of a page in a language. */
export function findProxyBlock({ path, blocks }: DocPage, language: string): string {
  const [block, ...others] = blocks.filter((one) => one.language === language);
  if (block === undefined || others.length > 0) throw new Error(`${path} has not one block in ${language}.`);
  return block.text;
}
