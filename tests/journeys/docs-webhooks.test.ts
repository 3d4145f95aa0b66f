import { createHmac } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { issueKey } from "@svc/auth";
import { CALLBACK_TYPES } from "@svc/contracts";
import type { CallbackBody } from "@svc/contracts";
import { setWebhookSecret } from "@svc/operations";
import { signWebhook } from "@svc/outbound";
import { startWebhookReceiver } from "@svc/testing";
import type { WebhookReceiver } from "@svc/testing";
import { readDocExamples } from "./support/read-doc-examples.ts";
import { findDocFile, readDocPage, readDocTable } from "./support/read-doc-page.ts";
import { createDocRunner } from "./support/run-doc-example.ts";
import type { DocRunner } from "./support/run-doc-example.ts";
import {
  RECEIVER_LANGUAGES,
  findProgram,
  prepareDocReceiver,
  replaceOnce,
  startDocReceiver,
} from "./support/start-doc-receiver.ts";
import type { DocReceiver, ReceiverLanguage } from "./support/start-doc-receiver.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";
import { makeFolder, removeFolders } from "./support/svc-instance.ts";

const page = readDocPage("docs/webhooks.md");

const WHSEC = "whsec_c3ZjLWRvY3VtZW50YXRpb24tZXhhbXBsZS1rZXk=";
const PLAIN = "svc_a-key-that-signs-where-no-secret-is-set";
const OTHER = "whsec_YW5vdGhlci1zZWNyZXQtdGhhdC1pcy1ub3Qtb3Vycw==";
const DELIVERY = "01a1fe7b-4312-7362-b590-0b7f11541fa3";

/** Formatted unlike the output of any JSON library, so that only the raw bytes have the right signature. */
const BODY = `{ "ok":true, "type":"message.completed", "deliveryId":"${DELIVERY}", "chatId":"Gr\\u00f6\\u00dfe 42 – ✓",
  "replies":[{"type":"message","text":"1.0","n":1.0},{"type":"attachment","filename":"a.xlsx"}] }`;

/** Time limit for compiling the Go receiver, which is slow without a build cache. */
const COMPILE_TIMEOUT_MS = 240_000;

/** Returns the code of a receiver of the page. */
const codeOf = ({ fileName }: ReceiverLanguage) => findDocFile(page, fileName);

let folder: string;

beforeAll(async () => {
  folder = await makeFolder();
});

afterAll(removeFolders);

describe("the examples of docs/webhooks.md show the actual requests:", () => {
  const examples = readDocExamples(page);
  let product: Product;
  let receiver: WebhookReceiver;
  let runner: DocRunner;

  beforeAll(async () => {
    product = await startProduct();
    receiver = await startWebhookReceiver();
    const [apiUrl = ""] = product.composition.apiUrls;
    const { key } = await issueKey(product.store, {
      name: "docs",
      scopes: ["admin:*"],
      project: null,
      createdBy: "test",
    });
    runner = await createDocRunner({ apiUrl, key, receiver, folder });
  });

  afterAll(async () => {
    await receiver?.close();
    await product?.stop();
  });

  test.each(examples.map((example) => [example.title, example] as const))("%s", async (_title, example) => {
    expect(await runner.check(example)).toEqual([]);
  });

  test("the tables contain all fields and types of a callback", () => {
    const shown = examples.find(({ callback }) => callback !== null)?.callback;
    const body = JSON.parse(shown?.body ?? "{}") as CallbackBody;
    expect(readDocTable(page, "Field").map(([name]) => name)).toEqual(Object.keys(body));
    expect(
      readDocTable(page, "type")
        .map(([name]) => name)
        .sort(),
    ).toEqual(Object.keys(CALLBACK_TYPES).sort());
  });

  test("the table contains all headers of a callback", () => {
    const shown = examples.find(({ callback }) => callback !== null)?.callback;
    const named = readDocTable(page, "Header").map(([name = ""]) => name.toLowerCase());
    expect([...(shown?.headers.keys() ?? [])].filter((name) => name !== "host").sort()).toEqual(named.sort());
  });

  test("a receiver of the page accepts a real callback, signed with the configured secret", async () => {
    const secret = WHSEC;
    const projects = await product.store.projects.ensure("default");
    const principal = {
      actor: "test",
      keyId: null,
      rateLimit: null,
      scopes: ["admin:*" as const],
      project: projects.project.id,
      projectName: "default",
    };
    await setWebhookSecret({ store: product.store }, principal, { secret, overlapSeconds: 0 });
    const [language] = RECEIVER_LANGUAGES;
    if (language === undefined) throw new Error("there is no receiver");
    const commandOn = await prepareDocReceiver(language, { code: codeOf(language), folder, name: "real" });
    const real = await startDocReceiver(commandOn, { name: "receiver.mjs", secrets: [secret] });
    try {
      const response = await fetch(`${product.composition.apiUrls[0] ?? ""}/api/v1/messages`, {
        method: "POST",
        headers: { "X-Api-Key": product.adminKey, "Content-Type": "application/json" },
        body: JSON.stringify({ text: "Can a message get lost?", chatId: "real-1", webhookUrl: real.url }),
      });
      await response.arrayBuffer();
      expect(response.status).toBe(202);
      // Until the service reloads the secret, it signs with the key; such a callback is rejected and retried.
      await real.process.ready(/^message\.completed real-1 /m);
    } finally {
      await real.process.kill();
    }
  });
});

describe("the test vectors of the page", () => {
  test("are correct", () => {
    const given = new Map(readDocTable(page, "to check with").map(([name = "", value = ""]) => [name, value]));
    const signed = signWebhook({
      body: given.get("body") ?? "",
      secrets: [given.get("secret") ?? ""],
      deliveryId: given.get("webhook-id") ?? "",
      timestamp: new Date(Number(given.get("webhook-timestamp")) * 1_000),
    });
    expect(Object.fromEntries(given)).toMatchObject(signed);
  });
});

interface Callback {
  body: string;
  headers: Record<string, string>;
}

/** Returns a callback as the service sends it, signed with these secrets at this time, and then changed. */
function callback(
  { secrets = [WHSEC], ageSeconds = 0, id = DELIVERY }: { secrets?: string[]; ageSeconds?: number; id?: string } = {},
  change: Partial<Record<string, string | null>> = {},
): Callback {
  const timestamp = new Date(Date.now() - ageSeconds * 1_000);
  const all = { ...signWebhook({ body: BODY, secrets, deliveryId: id, timestamp }), ...change };
  const headers = Object.entries(all).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return { body: BODY, headers: Object.fromEntries(headers) };
}

const tampered = (sent: Callback, body: string): Callback => ({ ...sent, body });
const soon = (seconds: number) => String(Math.floor(Date.now() / 1_000) + seconds);

/** Callbacks that a receiver must accept; created for each test, because a signature is valid only for minutes. */
const GENUINE: Record<"standard" | "simple", [what: string, make: () => Callback][]> = {
  standard: [
    ["signed with a whsec_ secret", () => callback()],
    ["signed with a secret of any other form", () => callback({ secrets: [PLAIN] })],
    ["with two signatures, of which the second is ours", () => callback({ secrets: [OTHER, WHSEC] })],
    ["signed four minutes ago", () => callback({ ageSeconds: 240 })],
    ["signed by a clock that is four minutes fast", () => callback({ ageSeconds: -240 })],
  ],
  simple: [
    ["signed with a whsec_ secret", () => callback()],
    ["signed with a secret of any other form", () => callback({ secrets: [PLAIN] })],
    ["without the headers of Standard Webhooks", () => callback({}, { "webhook-signature": null })],
  ],
};

const FORGED: typeof GENUINE = {
  standard: [
    ["with another body", () => tampered(callback(), BODY.replace("42", "43"))],
    ["with a byte more", () => tampered(callback(), `${BODY} `)],
    ["with a body that was parsed and written again", () => tampered(callback(), JSON.stringify(JSON.parse(BODY)))],
    ["with an empty body", () => tampered(callback(), "")],
    ["signed with another secret", () => callback({ secrets: [OTHER] })],
    ["signed with the secret as it is written", () => signedWith(WHSEC)],
    ["signed with nothing", () => signedWith("")],
    ["signed six minutes ago", () => callback({ ageSeconds: 360 })],
    ["signed by a clock that is six minutes fast", () => callback({ ageSeconds: -360 })],
    ["old, with a new time", () => callback({ ageSeconds: 360 }, { "webhook-timestamp": soon(0) })],
    ["with another id", () => callback({}, { "webhook-id": "01a1fe7b-4312-7362-b590-0b7f11541fa4" })],
    ["without an id", () => callback({}, { "webhook-id": null })],
    ["without a time", () => callback({}, { "webhook-timestamp": null })],
    ["without a signature", () => callback({}, { "webhook-signature": null })],
    ["with the simple signature alone", () => callback({}, { "webhook-signature": "", "webhook-id": "" })],
    ["with an empty signature", () => callback({}, { "webhook-signature": "v1," })],
    ["with the beginning of its signature", () => shortened(callback())],
    ["with a signature that is no base64", () => callback({}, { "webhook-signature": "v1,äöü=" })],
    ["with a signature of an unknown version", () => versioned(callback())],
    ...["", "now", "1e9", "-1", "0x6a000000", "99999999999999999999", `${soon(0)}.0`].map(
      (time): [string, () => Callback] => [`signed at "${time}"`, () => timed(time)],
    ),
  ],
  simple: [
    ["with another body", () => tampered(callback(), BODY.replace("42", "43"))],
    ["with a body that was parsed and written again", () => tampered(callback(), JSON.stringify(JSON.parse(BODY)))],
    ["signed with another secret", () => callback({ secrets: [OTHER] })],
    ["signed with nothing", () => signedWith("")],
    ["without a signature", () => callback({}, { "X-Svc-Signature": null })],
    ["with an empty signature", () => callback({}, { "X-Svc-Signature": "sha256=" })],
    ["with a signature that is none", () => callback({}, { "X-Svc-Signature": "sha256=äöü" })],
  ],
};

function shortened({ body, headers }: Callback): Callback {
  return { body, headers: { ...headers, "webhook-signature": (headers["webhook-signature"] ?? "").slice(0, -4) } };
}

function versioned({ body, headers }: Callback): Callback {
  const signature = (headers["webhook-signature"] ?? "").replace("v1,", "v2,");
  return { body, headers: { ...headers, "webhook-signature": signature } };
}

/** Signs the body with any key and time, like a forger. */
function signedWith(key: string | Buffer, time = soon(0)): Callback {
  const standard = createHmac("sha256", key).update(`${DELIVERY}.${time}.${BODY}`).digest("base64");
  const simple = createHmac("sha256", key).update(BODY).digest("hex");
  const signatures = { "webhook-signature": `v1,${standard}`, "X-Svc-Signature": `sha256=${simple}` };
  return callback({}, { "webhook-timestamp": time, ...signatures });
}

/** Signs an invalid timestamp: the signature is correct, the time is not. */
const timed = (time: string) => signedWith(Buffer.from(WHSEC.slice("whsec_".length), "base64"), time);

async function post(url: string, { body, headers }: Callback): Promise<number> {
  const response = await fetch(url, {
    method: "POST",
    body,
    headers: { "Content-Type": "application/json", ...headers },
  });
  await response.arrayBuffer();
  return response.status;
}

for (const language of RECEIVER_LANGUAGES) {
  const { name, program, remembers } = language;
  const isThere = findProgram(program) !== null;

  (isThere ? describe : describe.skip)(`the receiver in ${name} (needs ${program})`, () => {
    for (const scheme of ["standard", "simple"] as const) {
      describe({ standard: "for Standard Webhooks", simple: "for X-Svc-Signature" }[scheme], () => {
        let commandOn: Awaited<ReturnType<typeof prepareDocReceiver>>;
        let receiver: DocReceiver;

        beforeAll(async () => {
          const { standardCall, simpleCall } = language;
          const calls = { standard: standardCall, simple: simpleCall };
          const code = replaceOnce(codeOf(language), standardCall, calls[scheme]);
          commandOn = await prepareDocReceiver(language, { code, folder, name: scheme });
          receiver = await startDocReceiver(commandOn, { name, secrets: [WHSEC, PLAIN] });
        }, COMPILE_TIMEOUT_MS);

        afterAll(async () => {
          await receiver?.process.kill("SIGKILL");
        });

        test.each(GENUINE[scheme])("accepts a callback %s", async (_what, make) => {
          expect(await post(receiver.url, make())).toBe(204);
        });

        test.each(FORGED[scheme])("rejects a callback %s", async (_what, make) => {
          expect(await post(receiver.url, make())).toBe(401);
        });

        if (remembers) {
          test("does its work once for a callback that is delivered several times", () => {
            expect(receiver.process.output().match(/message\.completed/g)).toHaveLength(1);
          });
        }

        test("accepts nothing without a secret: anyone could sign with an empty one", async () => {
          const naked = await startDocReceiver(commandOn, { name, secrets: [] }).catch(() => null);
          // Most do not even start.
          if (naked === null) return;
          try {
            expect(await post(naked.url, signedWith(""))).toBe(500);
          } finally {
            await naked.process.kill("SIGKILL");
          }
        });
      });
    }
  });
}
