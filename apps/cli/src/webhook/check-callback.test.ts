import { describe, expect, test } from "@jest/globals";
import { signWebhook } from "@svc/outbound";
import { checkCallback, parseHeaderLines } from "./check-callback.ts";
import type { Callback } from "./check-callback.ts";

const EXPECTED = { "webhook-id": "0193", "x-svc-signature": "sha256=ab", date: "Sat, 21 Nov 2026 10:00:00 GMT" };

describe("header lines", () => {
  test.each([
    [
      "in a request, without its first line and its body",
      "POST /hook HTTP/1.1\r\nwebhook-id: 0193\r\nX-Svc-Signature: sha256=ab\r\nDate: Sat, 21 Nov 2026 10:00:00 GMT\r\n\r\nid: 1\r\n",
    ],
    [
      "in the output of curl -v",
      "> POST /hook HTTP/2\n> Webhook-Id:   0193  \n> x-svc-signature:sha256=ab\n> date: Sat, 21 Nov 2026 10:00:00 GMT\n>\n< HTTP/2 200\n< date: other\n",
    ],
    [
      "in a log of JSON",
      '{\n  "webhook-id": "0193",\n  \'x-svc-signature\': \'sha256=ab\',\n  "date": "Sat, 21 Nov 2026 10:00:00 GMT"\n}',
    ],
  ])("%s", (_, text) => {
    expect(parseHeaderLines(text)).toEqual(EXPECTED);
  });

  test("a header that was sent twice has both values", () => {
    expect(parseHeaderLines("A: 1\na: 2\nB: 3\nA: 4")).toEqual({ a: ["1", "2", "4"], b: "3" });
  });

  test.each(["", "\n\n", "no header at all", ": nameless", "a name: with a space"])("%j has none", (text) => {
    expect(parseHeaderLines(text)).toEqual({});
  });
});

const NOW = new Date("2026-11-21T10:00:00Z");
const SECRET = `whsec_${Buffer.from("thirty-two bytes of a secret key").toString("base64")}`;
const BODY = '{"ok":true,"mode":"webhook","text":"Grüße 👋"}';

/** Returns a callback as received, with the changes of a test case. */
function received(
  changes: Partial<Callback> & { signedAt?: Date; signedBody?: string; signedWith?: string[]; only?: string[] } = {},
): Callback {
  const { signedAt = NOW, signedBody = BODY, signedWith = [SECRET], only, ...rest } = changes;
  const signed = signWebhook({ body: signedBody, secrets: signedWith, deliveryId: "0193", timestamp: signedAt });
  const headers = Object.entries(signed)
    .map(([name, value]): [string, string] => [name.toLowerCase(), value])
    .filter(([name]) => only === undefined || only.includes(name));
  return {
    body: Buffer.from(signedBody, "utf8"),
    headers: Object.fromEntries(headers),
    secret: SECRET,
    now: NOW,
    maxAgeMs: 300_000,
    ...rest,
  };
}

const ago = (ms: number) => new Date(NOW.getTime() - ms);
const ONLY_BODY = ["x-svc-signature"];

describe("a callback is genuine", () => {
  test("with the headers of Standard Webhooks", () => {
    const report = { ok: true, scheme: "standard", reason: null, detail: "The callback is authentic.", hints: [] };
    expect(checkCallback(received())).toEqual(report);
  });

  test("with X-Svc-Signature alone, which does not prove its age", () => {
    expect(checkCallback(received({ only: ONLY_BODY, signedAt: ago(1e9) }))).toMatchObject({
      ok: true,
      scheme: "body",
      hints: [expect.stringContaining("does not cover the time of sending")],
    });
  });

  test("for a receiver that still has the previous secret of a rotation", () => {
    expect(checkCallback(received({ signedWith: ["the newer secret", SECRET] }))).toMatchObject({
      ok: true,
      scheme: "standard",
      hints: [expect.stringContaining("rotation")],
    });
  });
});

describe("a callback is not genuine, with the reason in the report,", () => {
  const schemes = [
    { scheme: "standard", only: undefined },
    { scheme: "body", only: ONLY_BODY },
  ];

  test.each(schemes)("signed with another secret ($scheme)", ({ scheme, only }) => {
    const callback = received({ signedWith: ["a different secret"], ...(only === undefined ? {} : { only }) });
    expect(checkCallback(callback)).toEqual({
      ok: false,
      scheme,
      reason: "bad_signature",
      detail: "The signature does not match this body and secret.",
      hints: [expect.stringContaining("Is this the secret that was set")],
    });
  });

  test.each([
    ["with spaces around it", ` ${SECRET}`, "without the surrounding spaces"],
    ["without the prefix whsec_", SECRET.slice("whsec_".length), "with the prefix whsec_"],
    ["with whsec_ that does not belong to it", "whsec_c2VjcmV0", "without the prefix whsec_"],
  ])("the secret was given %s", (_, secret, hint) => {
    const signedWith = [secret === "whsec_c2VjcmV0" ? "c2VjcmV0" : SECRET];
    for (const { only } of schemes) {
      const callback = received({ secret, signedWith, ...(only === undefined ? {} : { only }) });
      expect(checkCallback(callback)).toMatchObject({
        reason: "bad_signature",
        hints: [expect.stringContaining(hint)],
      });
    }
  });

  test.each([
    ["was parsed and serialized again", JSON.stringify(JSON.parse(BODY), null, 2), "parsed and serialized again"],
    ["got a line end at its end", `${BODY}\n`, "without the trailing line break"],
    ["got a byte order mark", `\ufeff${BODY}`, "without the byte order mark"],
    ["is not the body alone", `HTTP/1.1 200 OK\n\n${BODY}`, "The body is not JSON"],
    ["has changed and was written again", '{ "ok": false }', "seems to have been parsed and serialized again"],
  ])("the body %s", (_, body, hint) => {
    for (const { only } of schemes) {
      const callback = received({ body: Buffer.from(body, "utf8"), ...(only === undefined ? {} : { only }) });
      const { reason, hints } = checkCallback(callback);
      expect({ reason, hint: hints[0] }).toEqual({ reason: "bad_signature", hint: expect.stringContaining(hint) });
    }
  });

  test("too old, with a valid signature", () => {
    const report = checkCallback(received({ signedAt: ago(3 * 86_400_000) }));
    expect(report).toMatchObject({
      reason: "bad_timestamp",
      detail: "The callback is too old: it was signed 3 days ago, and the maximum is 5 minutes.",
    });
    expect(report.hints.join(" ")).toContain("The signature is valid. To verify an old callback");
    expect(checkCallback(received({ signedAt: ago(3 * 86_400_000), maxAgeMs: 7 * 86_400_000 })).ok).toBe(true);
  });

  test("too old, with an invalid signature", () => {
    const report = checkCallback(received({ signedAt: ago(600_000), signedWith: ["a different secret"] }));
    expect(report.hints).toContain("The signature is not valid either.");
  });

  test("from the future", () => {
    const report = checkCallback(received({ signedAt: ago(-3_600_000) }));
    expect(report).toMatchObject({ reason: "bad_timestamp", detail: "The timestamp is 60 minutes in the future." });
    expect(report.hints[0]).toContain("clocks");
  });

  test.each(["soon", "1795000000000", "-5", "1.5"])("with the time %s", (timestamp) => {
    const { headers } = received();
    const callback = received({ headers: { ...headers, "webhook-timestamp": timestamp } });
    expect(checkCallback(callback)).toMatchObject({
      reason: "bad_timestamp",
      detail: expect.stringContaining("not a Unix time"),
    });
  });

  test("without a header, or with a duplicate one", () => {
    const { headers } = received({ only: ["webhook-signature", "x-svc-signature"] });
    const callback = received({ headers: { ...headers, "webhook-signature": ["v1,a", "v1,b"] } });
    expect(checkCallback(callback)).toMatchObject({
      scheme: "standard",
      reason: "missing_header",
      detail:
        "The callback was received without webhook-id and webhook-timestamp and with more than one webhook-signature.",
    });
    expect(checkCallback(received({ headers: { accept: "*/*" } }))).toMatchObject({
      scheme: "body",
      reason: "missing_header",
      detail: "The callback was received without x-svc-signature.",
    });
  });

  test.each([
    ["webhook-signature", "K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=", "v1, followed by 44 characters"],
    ["webhook-signature", "v1,K5oZ", "v1, followed by 44 characters"],
  ])("with a cut %s", (name, value, hint) => {
    const { headers } = received();
    expect(checkCallback(received({ headers: { ...headers, [name]: value } })).hints).toEqual([
      expect.stringContaining(hint),
    ]);
  });

  test.each(["ab12", `sha256=${"AB".repeat(32)}`, `sha1=${"ab".repeat(32)}`])("with X-Svc-Signature %s", (value) => {
    expect(checkCallback(received({ headers: { "x-svc-signature": value } }))).toMatchObject({
      scheme: "body",
      reason: "bad_signature",
      hints: [expect.stringContaining("64 lowercase hex digits")],
    });
  });

  test("and no report contains the secret", () => {
    const callbacks = [
      received({ signedWith: ["a different secret"] }),
      received({ secret: ` ${SECRET}` }),
      received({ signedAt: ago(1e9) }),
      received({ only: [] }),
    ];
    expect(JSON.stringify(callbacks.map(checkCallback))).not.toContain(SECRET.slice(6, 20));
  });
});
