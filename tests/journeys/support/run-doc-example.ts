import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { WebhookReceiver } from "@svc/testing";
import { waitFor } from "@svc/testing";
import { createDocComparison } from "./compare-with-doc.ts";
import { readMessage } from "./read-doc-examples.ts";
import type { DocExample, ShownMessage } from "./read-doc-examples.ts";
import { run } from "./run-svc.ts";

/** URL of the receiver on the pages. They refer to the API by the variable SVC_URL. */
const SHOWN_RECEIVER = "http://127.0.0.1:8787";
/** The web site whose pages the examples add to a knowledge base. */
const SHOWN_SITE = "https://shop.example";
/** Time limit and polling interval until a read-only example shows the effects of the previous one. */
const SETTLE_MS = 20_000;
const POLL_MS = 250;

/** Runs the examples of one page, in order. */
export interface DocRunner {
  /** Runs an example and returns its differences from the page. A read-only one is repeated until there are none. */
  check(example: DocExample): Promise<string[]>;
}

/**
 * Creates a runner that executes the shell commands unchanged, with the URL and the key of a running product, and with
 * a test receiver instead of the one on the pages. `folder` may contain a .curlrc.
 */
export async function createDocRunner(options: {
  apiUrl: string;
  key: string;
  receiver: WebhookReceiver;
  folder: string;
  /** URL of that site in the test. */
  siteUrl?: string;
}): Promise<DocRunner> {
  const { apiUrl, key, receiver, folder, siteUrl = SHOWN_SITE } = options;
  const env: Record<string, string> = { SVC_URL: apiUrl, SVC_KEY: key, CURL_HOME: folder };
  const comparison = createDocComparison();
  const real = (text: string) =>
    comparison
      .translate(text)
      .replaceAll(SHOWN_SITE, siteUrl)
      .replaceAll(SHOWN_RECEIVER, receiver.url(""))
      .replaceAll(SHOWN_RECEIVER.replace("http://", ""), `127.0.0.1:${receiver.port}`);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, ".curlrc"), 'write-out = "%{stderr}\\n%{http_code}"\n');

  /** Stores a key that a response shows once for later examples. */
  function learnKey(answer: unknown): void {
    const { item } = answer as { item?: { key?: string } };
    if (item?.key !== undefined) env["APP_KEY"] = item.key;
  }

  function compareMessages(shown: ShownMessage, actual: ShownMessage): string[] {
    const headers = [...shown.headers].flatMap(([name, value]) =>
      comparison.compare(value, actual.headers.get(name)).map((difference) => `header ${name}${difference}`),
    );
    const bodies =
      shown.body === "" ? [] : comparison.compare(JSON.parse(real(shown.body)), JSON.parse(actual.body || "null"));
    return [...headers, ...bodies];
  }

  async function runOnce({ command, status, answer }: DocExample): Promise<string[]> {
    const { stdout, stderr } = await run("sh", ["-c", real(command)], { env, cwd: folder });
    const actualStatus = /(\d{3})$/.exec(stderr)?.[1];
    if (actualStatus !== String(status)) return [`status ${actualStatus ?? "none"}: ${stdout}${stderr}`];
    if ("message" in answer) return compareMessages(answer.message, readMessage(stdout));
    const actual = JSON.parse(stdout) as unknown;
    const differences = comparison.compare(JSON.parse(real(answer.json)), actual);
    if (differences.length === 0) learnKey(actual);
    return differences;
  }

  async function findCallback(shown: ShownMessage): Promise<string[]> {
    const [, path = ""] = shown.firstLine.split(" ");
    const wanted = JSON.parse(shown.body) as { deliveryId: string };
    const id = comparison.translate(wanted.deliveryId);
    const { headers, body } = await receiver.next(
      (request) => request.path === path && request.headers["webhook-id"] === id,
    );
    const shownHeaders = new Map([...shown.headers].map(([name, value]) => [name, real(value)]));
    const actual = { firstLine: shown.firstLine, headers: new Map(Object.entries(headers)), body: body.toString() };
    return compareMessages({ ...shown, headers: shownHeaders }, actual);
  }

  return {
    async check(example) {
      let differences = await runOnce(example);
      const onlyReads = !/ -d '| -X /.test(example.command);
      if (onlyReads && differences.length > 0) {
        const check = async () => {
          // Slowly: the key has the rate limit that the page shows.
          await delay(POLL_MS);
          differences = await runOnce(example);
          return differences.length === 0;
        };
        await waitFor(check, { what: "the answer of the page", timeoutMs: SETTLE_MS }).catch(() => undefined);
      }
      if (differences.length > 0 || example.callback === null) return differences;
      return findCallback(example.callback);
    },
  };
}
