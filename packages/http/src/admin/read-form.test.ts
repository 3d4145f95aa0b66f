import { expect, test } from "@jest/globals";
import { readForm } from "./read-form.ts";

const TYPE = "multipart/form-data; boundary=b";
const part = (headers: string, body: string) => `--b\r\nContent-Disposition: form-data; ${headers}\r\n\r\n${body}\r\n`;
const form = (...parts: string[]) => Buffer.from(`${parts.join("")}--b--\r\n`);

test("a form is its fields and its files, with names in UTF-8 and without folders", async () => {
  const body = form(
    part('name="title"', "Häuser"),
    part('name="file"; filename="../../etc/ümläut.md"\r\nContent-Type: text/markdown', "# ü\r\n"),
    part('name="file"; filename="empty.txt"', ""),
  );
  const { fields, files } = await readForm(body, 'multipart/form-data; boundary="b"');
  expect([...fields]).toEqual([["title", "Häuser"]]);
  expect(files).toEqual([
    { name: "ümläut.md", mime: "text/markdown", bytes: Buffer.from("# ü\r\n") },
    { name: "empty.txt", mime: "text/plain", bytes: Buffer.alloc(0) },
  ]);
});

test.each([
  ["has no boundary", form(part('name="a"', "a")), "multipart/form-data"],
  ["is empty", Buffer.from(""), TYPE],
  ["is something else", Buffer.from("hello"), TYPE],
  ["is cut in a file", Buffer.from(part('name="file"; filename="a"', "half")), TYPE],
  ["is cut in a field", Buffer.from('--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nhalf'), TYPE],
  ["has a field twice", form(part('name="a"', "1"), part('name="a"', "2")), TYPE],
  ["has a field that is too long", form(part('name="a"', "x".repeat(100_000))), TYPE],
  ["has too many fields", form(...Array.from({ length: 11 }, (_, index) => part(`name="f${index}"`, "x"))), TYPE],
  [
    "has too many files",
    form(...Array.from({ length: 21 }, (_, index) => part(`name="f"; filename="${index}"`, ""))),
    TYPE,
  ],
  ["is only boundaries", Buffer.from(`${"--b\r\n\r\n".repeat(5_000)}--b--`), TYPE],
])("a form that %s is an answer or a fault in words, never a crash", async (_what, body, type) => {
  const outcome = await readForm(body, type).catch((error: unknown) => error);
  const hasParts = typeof outcome === "object" && outcome !== null && "files" in outcome;
  if (hasParts) expect(outcome).toEqual({ fields: new Map(), files: [] });
  else
    expect(outcome).toMatchObject({
      code: "invalid_request",
      message: expect.stringMatching(/^The form is not valid: /),
    });
});
