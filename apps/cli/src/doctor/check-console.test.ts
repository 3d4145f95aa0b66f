import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "@jest/globals";
import type { Store } from "@svc/store";
import type { Cli } from "../cli.ts";
import { checkConsole } from "./check-console.ts";

const OURS = '{"ok":true,"password":true,"oidc":null}';

/** What the doctor finds where a server answers like this; null: nothing listens there. */
async function find(answer: { status: number; text: string } | null, isFirstMissing = false) {
  const server = createServer((_request, response) => {
    response.writeHead(answer?.status ?? 500).end(answer?.text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => new Promise((resolve) => server.close(resolve));
  if (answer === null) await close();
  const ports = { api: 0, widget: 0, tools: 0, console: port, metrics: undefined };
  const store = { operatorLinks: { isFirstMissing: () => Promise.resolve(isFirstMissing) } } as Store;
  const cli = { startWith: "npm start", self: "svc" } as Cli;
  const check = await checkConsole(cli, { bindHost: undefined, ports }, store, new Map());
  if (answer !== null) await close();
  return check;
}

test.each([
  { what: "that answers", answer: { status: 200, text: OURS }, status: "ok" },
  { what: "that is another program", answer: { status: 200, text: "<html>" }, status: "fail" },
  { what: "that is out of order", answer: { status: 503, text: OURS }, status: "fail" },
  { what: "that is not there", answer: null, status: "warn" },
])("a console $what: $status", async ({ answer, status }) => {
  const check = await find(answer);
  expect(check).toMatchObject({ name: "Console", status });
  expect(check.advice === undefined).toBe(status === "ok");
});

test("where nobody can sign in yet, it is said how the first administrator gets in", async () => {
  expect(await find({ status: 200, text: OURS }, true)).toMatchObject({
    status: "ok",
    detail: expect.stringContaining("svc operators link"),
  });
});
