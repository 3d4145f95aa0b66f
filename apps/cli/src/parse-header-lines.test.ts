import { describe, expect, test } from "@jest/globals";
import { parseHeaderLines } from "./parse-header-lines.ts";

const EXPECTED = { "webhook-id": "0193", "x-svc-signature": "sha256=ab", date: "Sat, 21 Nov 2026 10:00:00 GMT" };

describe("header lines are read as they stand", () => {
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
