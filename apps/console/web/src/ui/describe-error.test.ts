import { describe, expect, test } from "@jest/globals";
import { ServiceError } from "@svc/client";
import de from "../i18n/de.json" with { type: "json" };
import en from "../i18n/en.json" with { type: "json" };
import { createTexts } from "../i18n/texts.ts";
import { describeSentence, describeError, describeSsoError, errorAt } from "./describe-error.ts";

const [english, german] = [createTexts("en", en.first).t, createTexts("de", de.first).t];

describe("the description of an error", () => {
  test("is in the language of the page, with the server's detail if that adds something", () => {
    const error = new ServiceError("invalid_request", "The ticket is closed.", { status: 400 });
    expect(describeError(error, english)).toBe("The ticket is closed.");
    expect(describeError(error, german)).toBe("Ungültige Eingabe: The ticket is closed.");
    const signedOut = new ServiceError("not_signed_in", "Sign in.", { status: 401 });
    expect(describeError(signedOut, german)).toBe("Ihre Sitzung ist abgelaufen. Melden Sie sich erneut an.");
  });

  test("contains each error once, with the name of its field", () => {
    const errors = [
      { pointer: "/tools/0/url", code: "forbidden", detail: "is refused" },
      { pointer: "/tools/1/name", code: "too_small", detail: "at least 1 character" },
    ];
    const error = new ServiceError("invalid_request", "The agent is not valid: /tools/0/url is refused", { errors });
    expect(describeError(error, english)).toBe(
      "The agent is not valid: tools url is refused · tools name: at least 1 character",
    );
  });

  test("contains every invalid field, and the server's detail for an unknown code", () => {
    const errors = [{ pointer: "/text", code: "too_small", detail: "at least 1 character" }];
    const error = new ServiceError("teapot", "It is a teapot.", { errors });
    expect(describeError(error, german)).toBe("It is a teapot. · text: at least 1 character");
    expect(describeError(new Error("x"), english)).toBe(en.first["error.unknown"]);
  });
});

test("each error of single sign-on has its own text, and an unknown one a general text", () => {
  const texts = ["unknown_operator", "unavailable", "rate_limited", "refused"].map(describeSsoError);
  expect(new Set(texts).size).toBe(4);
  expect(["constructor", "", "x"].map(describeSsoError)).toEqual(Array(3).fill("signIn.ssoFailed"));
});

describe("the error of a field", () => {
  const detail = "must be a time, such as `09:00` or `24:00`";
  const errors = [
    { pointer: "/businessHours/week/monday/0/0", code: "invalid_format", detail },
    { pointer: "/businessHours/holidays/1/date", code: "invalid_format", detail: "is not a valid ISO date" },
    { pointer: "/config/strings/title", code: "custom", detail: "is odd" },
  ];
  const error = new ServiceError("invalid_request", "The project is not valid.", { errors });

  test("is in the language of the page, with the line for fields of several lines", () => {
    expect(errorAt(error, "/businessHours/week/monday", german, false)).toBe(de.first["rule.time"]);
    expect(errorAt(error, "/businessHours/week/monday", english, false)).toBe(en.first["rule.time"]);
    expect(errorAt(error, "/businessHours/holidays", german)).toBe(`Zeile 2: ${de.first["rule.date"]}`);
    expect(errorAt(error, "/businessHours/week/mon", german)).toBeUndefined();
    expect(errorAt(error, "/config/strings", german)).toBe("title: is odd");
    expect(errorAt(new Error("x"), "/name", german)).toBeUndefined();
  });
});

test("known sentences of the server are in the language of the page", () => {
  const text = '"a.pdf" contains no text (its pages are scanned images); run text recognition (OCR) first.';
  const file = new ServiceError("invalid_request", text);
  expect(describeError(file, english)).toMatch(/^"a.pdf" contains no text\./);
  expect(describeError(file, german)).toMatch(/^"a.pdf" enthält keinen Text/);
  const noApi = "the provider did not respond like a model API: check the URL (most end in /v1)";
  expect(describeSentence(noApi, german)).toContain("Prüfen Sie die URL");
  expect(describeSentence("out of tokens", german)).toBeNull();
  const address = new ServiceError("invalid_request", "The URL is not valid: /url is not allowed. It is local.", {
    errors: [{ pointer: "/url", code: "forbidden_address", detail: "is not allowed. It is local" }],
  });
  expect(describeError(address, english)).toMatch(/^url: This address is not allowed\./);
  expect(describeError(address, german)).toMatch(/^url: Diese Adresse ist nicht erlaubt/);
});
