import { readFileSync } from "node:fs";
import { describeEndpoints, describeErrors, describeSettings } from "@svc/runtime";
import { expect, test } from "@jest/globals";
import { repositoryPath } from "@svc/testing";

test("docs/configuration.md matches the settings that the code reads; npm run docs writes it", () => {
  expect(readFileSync(repositoryPath("docs/configuration.md"), "utf8")).toBe(describeSettings());
});

test("docs/errors.md lists the error catalogue; npm run docs writes it", () => {
  expect(readFileSync(repositoryPath("docs/errors.md"), "utf8")).toBe(describeErrors());
});

test("docs/endpoints.md lists every endpoint; npm run docs writes it", () => {
  expect(readFileSync(repositoryPath("docs/endpoints.md"), "utf8")).toBe(describeEndpoints());
});
