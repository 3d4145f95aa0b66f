import { expect, test } from "@jest/globals";
import { detectSignature, detectTextFormat } from "./detect-format.ts";

const signatureOf = (content: string) => detectSignature(Buffer.from(content, "latin1")).format;

test("a PDF may begin behind other bytes, and text that speaks of one is text", () => {
  expect(signatureOf("%PDF-1.7\n")).toBe("pdf");
  expect(signatureOf("\xff\xfeHTTP junk\n%PDF-1.4\n")).toBe("pdf");
  expect(signatureOf("A file begins with\n%PDF-1.4\nand goes on.")).toBe("text");
});

test("text is HTML or XML when it begins so, else what its name, else what its server says", () => {
  const formatOf = (text: string, name: string, mime?: string) =>
    detectTextFormat(text, { name, ...(mime === undefined ? {} : { mime }) });
  expect(formatOf("\n<!-- c --><!DOCTYPE HTML><p>x", "a.txt")).toBe("html");
  expect(formatOf('<?xml version="1.0"?>\n<html xmlns="x">', "a")).toBe("html");
  expect(formatOf("<svg></svg>", "a.txt")).toBe("xml");
  expect(formatOf("# Title", "https://x.example/readme.md?raw=1", "text/plain; charset=utf-8")).toBe("markdown");
  expect(formatOf("a,b", "export", "text/csv")).toBe("csv");
  expect(formatOf("no tags at all", "a.html")).toBe("plain");
  expect(formatOf("<b>x</b>", "notes")).toBe("plain");
});
