import { describe, expect, test } from "@jest/globals";
import { ServiceError } from "@svc/contracts";
import { checkDocument } from "./add-document.ts";
import type { DocumentInput } from "./add-document.ts";

const document = (change: Partial<DocumentInput>): DocumentInput => ({
  key: "a.md",
  text: "text",
  mime: "text/markdown",
  ...change,
});

function refusal(change: Partial<DocumentInput>): ServiceError {
  try {
    checkDocument(document(change));
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error("the document was not refused");
}

describe("checkDocument", () => {
  test("takes Markdown and plain text, whatever the parameters and case of the media type", () => {
    expect(checkDocument(document({ mime: "Text/X-Markdown; charset=utf-8" })).mime).toBe("text/markdown");
    expect(checkDocument(document({ mime: "text/plain", text: "é\t\r\n\f" }))).toEqual({
      mime: "text/plain",
      sizeBytes: 6,
    });
  });

  test.each([
    ["empty", { text: "" }, "/text", "too_short"],
    ["white space", { text: " \n\uFEFF\t" }, "/text", "too_short"],
    ["with NUL", { text: `${"fine ".repeat(20)}\u0000` }, "/text", "malformed_text"],
    ["with a lone surrogate", { text: `${"fine ".repeat(20)}\uD800` }, "/text", "malformed_text"],
    ["binary", { text: "PNG\u0000\u0001\u0002\u0003 data" }, "/text", "binary"],
    ["that was no UTF-8", { text: "\uFFFD\uFFFDabc\uFFFD" }, "/text", "binary"],
    ["without a key", { key: " " }, "/key", "too_short"],
    ["with a key of 2,001 bytes", { key: `a${"é".repeat(1_000)}` }, "/key", "too_long"],
    ["with a key that holds NUL", { key: "a\u0000" }, "/key", "malformed_text"],
    ["with an empty title", { title: "" }, "/title", "too_short"],
    ["with a script for a URL", { url: "javascript:alert(1)" }, "/url", "invalid_url"],
    ["with a URL that is none", { url: "docs/a.md" }, "/url", "invalid_url"],
  ])("refuses a document %s and names the fault", (_, change, pointer, code) => {
    const error = refusal(change);
    expect(error.code).toBe("invalid_request");
    expect(error.errors).toEqual([expect.objectContaining({ pointer, code })]);
    expect(error.message).toContain(error.errors?.[0]?.detail ?? "");
  });

  test("names all faults of a document, not only the first", () => {
    expect(refusal({ text: "", key: "", url: "x" }).errors?.map(({ pointer }) => pointer)).toEqual([
      "/text",
      "/key",
      "/url",
    ]);
  });

  test("refuses more than 10 MB in UTF-8 and says how much it is", () => {
    expect(checkDocument(document({ text: "a".repeat(10 * 1024 * 1024) })).sizeBytes).toBe(10 * 1024 * 1024);
    const error = refusal({ text: "é".repeat(5 * 1024 * 1024 + 1) });
    expect(error.code).toBe("payload_too_large");
    expect(error.message).toContain("10 MB");
  });

  test("refuses other media types", () => {
    expect(refusal({ mime: "application/pdf" }).code).toBe("unsupported_media_type");
    expect(refusal({ mime: "" }).code).toBe("unsupported_media_type");
  });
});
