import { afterEach, describe, expect, test } from "@jest/globals";
import { EmailError, openMailer, parseSender, parseSmtpUrl } from "@svc/outbound";
import type { Mailer } from "@svc/outbound";
import { findExim, freePort, startExim, startSmtpServer, waitFor } from "@svc/testing";

const ID = "018f0000-0000-7000-8000-000000000001";
const FROM = { name: "Example support", address: "support@example.com" };
const hasExim = (await findExim()) !== null;

const ends: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

function open(url: string): Mailer {
  const server = parseSmtpUrl(url);
  if (server === null) throw new Error("not the URL of a mail server");
  const mailer = openMailer(server, FROM);
  ends.push(() => mailer.close());
  return mailer;
}

describe("the URL of a mail server", () => {
  test.each([
    ["smtp://mail.example.com", { host: "mail.example.com", port: 587, tls: "opportunistic", auth: null }],
    ["smtp://u:p%40ss@mail.example.com:25", { port: 25, tls: "required", auth: { user: "u", pass: "p@ss" } }],
    ["smtp://u:p@127.0.0.1:25", { tls: "opportunistic" }],
    ["smtp://u:p@mail.example.com?tls=none", { tls: "none" }],
    ["smtps://u:p@mail.example.com", { port: 465, tls: "implicit" }],
    ["smtp://[::1]:25", { host: "::1" }],
  ])("%s is parsed, and a password requires encryption", (url, expected) => {
    expect(parseSmtpUrl(url)).toMatchObject(expected);
  });

  test.each([
    "http://mail.example.com",
    "smtp://u@mail.example.com",
    "smtp://u:50%off@mail.example.com",
    "smtp://mail.example.com/path",
    "smtp://mail.example.com?tls=maybe",
    "smtp://mail.example.com?pool=false",
    "smtps://mail.example.com?tls=none",
    "mail.example.com",
  ])("%s is rejected", (url) => expect(parseSmtpUrl(url)).toBeNull());
});

test.each([
  ["Example support <support@example.com>", { name: "Example support", address: "support@example.com" }],
  ['"Support, Berlin" <support@example.com>', { name: "Support, Berlin", address: "support@example.com" }],
  ["support@example.com", { name: "", address: "support@example.com" }],
  ["a@example.com, b@example.com", null],
  ["Support <a@example.com> <b@example.com>", null],
  ["Support\r\nBcc: x@example.com <a@example.com>", null],
])("the sender %j is parsed as one address or rejected", (text, expected) => {
  expect(parseSender(text)).toEqual(expected);
});

test("line breaks and commas in values add neither headers nor recipients", async () => {
  const server = await startSmtpServer({ user: "svc" });
  ends.push(() => server.close());
  const mailer = open(server.url);
  const text = "Hello\r\n.\r\nQUIT\r\nBcc: x@example.com";
  await mailer.send({
    id: ID,
    to: "ann@example.com",
    subject: "Hi\r\nBcc: victim@example.com\r\n\r\nbody",
    text,
    headers: { "X-Test": "one\r\nBcc: victim@example.com" },
  });
  const { recipients, parsed } = await server.next();
  expect(recipients).toEqual(["ann@example.com"]);
  expect(parsed.headers.map(({ key }) => key)).not.toContain("bcc");
  expect(parsed.subject).toBe("Hi Bcc: victim@example.com body");
  expect(parsed.text?.trim().replaceAll("\r\n", "\n")).toBe(text.replaceAll("\r\n", "\n"));
  for (const to of ["a@example.com, b@example.com", "a@example.com\r\nRCPT TO:<b@example.com>", "a <a@example.com>"]) {
    await expect(mailer.send({ id: ID, to, subject: "Hi", text })).rejects.toMatchObject({ isFinal: true });
  }
  expect(server.emails).toHaveLength(1);
});

test("a server that is unavailable or rejects the sign-in causes a temporary error", async () => {
  const nobody = open(`smtp://127.0.0.1:${await freePort()}`);
  await expect(nobody.check()).rejects.toMatchObject({ name: "EmailError", isFinal: false });
  const server = await startSmtpServer({ user: "somebody" });
  ends.push(() => server.close());
  const stranger = open(server.url.replace("somebody", "stranger"));
  await expect(stranger.check()).rejects.toBeInstanceOf(EmailError);
  const sent = stranger.send({ id: ID, to: "ann@example.com", subject: "Hi", text: "Hello" });
  await expect(sent).rejects.toMatchObject({ isFinal: false });
});

(hasExim ? test : test.skip)("a real mail server (exim4) delivers an email, and its rejections are read", async () => {
  const exim = await startExim();
  ends.push(() => exim.stop());
  const mailer = open(exim.url);
  await mailer.check();
  await mailer.send({ id: ID, to: "ann@example.com", subject: "Grüße", text: "Hello\n.\nÄ" });
  const delivered = await waitFor(async () => (await exim.readEmails())[0], { what: "the email to be delivered" });
  expect(delivered).toContain(`Message-ID: <${ID}@example.com>`);
  expect(delivered).toContain("Auto-Submitted: auto-generated");
  expect(delivered).toContain("From: Example support <support@example.com>");
  for (const to of ["unknown@example.com", "ann@other.example"]) {
    const sent = mailer.send({ id: ID, to, subject: "Hi", text: "Hello" });
    await expect(sent).rejects.toMatchObject({ name: "EmailError", isFinal: true });
  }
  await expect(open(exim.url.replace("secret", "wrong")).check()).rejects.toMatchObject({ isFinal: false });
});
