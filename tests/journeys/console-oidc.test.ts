import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { newId } from "@svc/store";
import type { Project } from "@svc/store";
import { freePort, waitFor } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import { callApi } from "./support/call-api.ts";
import { createBrowserSession } from "./support/create-browser-session.ts";
import type { BrowserSession } from "./support/create-browser-session.ts";
import { startOidcProvider } from "./support/start-oidc-provider.ts";
import type { OidcProvider } from "./support/start-oidc-provider.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

let product: Product;
let provider: OidcProvider;
let url: string;
let shop: Project;

beforeAll(async () => {
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  provider = await startOidcProvider(`${url}/oidc/callback`);
  product = await startProduct({
    // One console, at a URL that the provider knows.
    composition: "standalone",
    env: {
      SVC_CONSOLE_PORT: String(port),
      SVC_OIDC_ISSUER: provider.issuer,
      SVC_OIDC_CLIENT_ID: provider.clientId,
      SVC_OIDC_CLIENT_SECRET: provider.clientSecret,
      SVC_OIDC_NAME: "Example login",
    },
  });
  shop = await addProject(product.store, "shop", { fixedReply: "answered" });
});

beforeEach(() => provider.verifiesEmails(true));

afterAll(async () => {
  await product?.stop();
  await provider?.close();
});

/** Signs in at the provider, starting with the console's button; returns the final URL of the browser. */
async function signIn(browser: BrowserSession, email: string): Promise<string> {
  const login = await browser.visit(`${url}/oidc/start`);
  const consent = await browser.visit(login.url, { prompt: "login", login: email, password: "anything" });
  const { url: end } = await browser.visit(consent.url, { prompt: "consent" });
  return end;
}

const sessionOf = (browser: BrowserSession) =>
  callApi(`${url}/session`, { headers: { Cookie: browser.cookiesOf(url) } });

async function addOperator(): Promise<string> {
  const email = `ann-${newId()}@example.com`;
  await product.store.operators.insert({ email, name: "Ann", roles: [{ project: shop.id, role: "viewer" }] });
  return email;
}

test("the sign-in page gets the name of the provider", async () => {
  const { body } = await callApi(`${url}/sign-in-ways`);
  expect(body).toEqual({ ok: true, password: true, oidc: { name: "Example login", startUrl: "/oidc/start" } });
});

test("an operator whose address the provider has verified is signed in, regardless of case", async () => {
  const email = await addOperator();
  const browser = createBrowserSession();
  expect(await signIn(browser, email.toUpperCase())).toBe(`${url}/`);
  const { status, body } = await sessionOf(browser);
  expect({ status, ...body }).toMatchObject({
    status: 200,
    operator: { email, hasPassword: false },
    projects: [{ name: "shop" }],
  });
});

test("single sign-on ends the browser's previous session too", async () => {
  const email = await addOperator();
  const browser = createBrowserSession();
  await signIn(browser, email);
  const before = browser.cookiesOf(url);
  await signIn(browser, email);
  expect((await callApi(`${url}/session`, { headers: { Cookie: before } })).status).toBe(401);
  expect((await sessionOf(browser)).status).toBe(200);
});

test("an unknown person is rejected with an explanation, and no operator is created", async () => {
  const email = `stranger-${newId()}@example.com`;
  const browser = createBrowserSession();
  expect(await signIn(browser, email)).toBe(`${url}/sign-in?fault=unknown_operator`);
  expect((await sessionOf(browser)).status).toBe(401);
  expect(await product.store.operators.findByEmail(email)).toBeNull();
});

test("a disabled operator, and an address that the provider has not verified, are rejected", async () => {
  const disabled = await addOperator();
  const { id = "" } = (await product.store.operators.findByEmail(disabled)) ?? {};
  await product.store.operators.update(id, { disabled: true }, null);
  const browser = createBrowserSession();
  expect(await signIn(browser, disabled)).toBe(`${url}/sign-in?fault=refused`);
  const other = await addOperator();
  provider.verifiesEmails(false);
  const second = createBrowserSession();
  expect(await signIn(second, other)).toBe(`${url}/sign-in?fault=refused`);
  for (const one of [browser, second]) expect((await sessionOf(one)).status).toBe(401);
});

test("a response that the browser has not requested, or that was changed, signs no one in", async () => {
  const email = await addOperator();
  const victim = createBrowserSession();
  const refused = `${url}/sign-in?fault=refused`;
  expect((await victim.visit(`${url}/oidc/callback?code=x&state=y`)).url).toBe(refused);
  // Another person's response, in a browser that has started its own sign-in.
  const attacker = createBrowserSession();
  const login = await attacker.visit(`${url}/oidc/start`);
  const consent = await attacker.visit(login.url, { prompt: "login", login: email, password: "anything" });
  const answer = await fetch(consent.url, {
    method: "POST",
    redirect: "manual",
    headers: { Cookie: attacker.cookiesOf(consent.url) },
    body: new URLSearchParams({ prompt: "consent" }),
  });
  const back = await fetch(answer.headers.get("location") ?? "", {
    redirect: "manual",
    headers: { Cookie: attacker.cookiesOf(consent.url) },
  });
  const stolen = back.headers.get("location") ?? "";
  expect(stolen).toMatch(/\/oidc\/callback\?.*code=/);
  await victim.visit(`${url}/oidc/start`);
  expect((await victim.visit(stolen)).url).toBe(refused);
  expect((await sessionOf(victim)).status).toBe(401);
});

/** Restarts the product with other settings. The console may start to listen slightly later than the API. */
async function restart(env: Record<string, string>): Promise<void> {
  await product.restart(env);
  await waitFor(async () => (await fetch(`${url}/healthz`)).ok, { what: "the console to listen" });
}

test("if the settings name a role, the first sign-in creates an operator with it", async () => {
  await restart({ SVC_OIDC_CREATE_ROLE: "shop:operator" });
  const email = `new-${newId()}@example.com`;
  const browser = createBrowserSession();
  expect(await signIn(browser, email)).toBe(`${url}/`);
  expect((await sessionOf(browser)).body).toMatchObject({
    operator: { email, name: expect.stringContaining("Person new-"), roles: [{ project: "shop", role: "operator" }] },
  });
});

test("an unreachable provider is reported with an explanation, and passwords still work", async () => {
  await restart({ SVC_OIDC_ISSUER: `http://127.0.0.1:${await freePort()}` });
  const { url: end } = await createBrowserSession().visit(`${url}/oidc/start`);
  expect(end).toBe(`${url}/sign-in?fault=unavailable`);
  expect((await callApi(`${url}/sign-in-ways`)).body).toMatchObject({ password: true });
});
