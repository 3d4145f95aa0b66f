// People who use the console.
import type { BrowserContext } from "playwright-core";
import { chromium } from "playwright-core";
import { hashPassword } from "@svc/auth";
import type { Store } from "@svc/store";
import type { EmbeddedProduct } from "@svc/testing";
import { findChromium } from "@svc/testing";

/** Starts the Chromium of this machine without a window. */
export function launchChromium() {
  const executablePath = findChromium();
  if (executablePath === null) throw new Error("There is no Chromium in the PATH; install it or set SVC_CHROMIUM.");
  // Its sandbox refuses to run as root, the user of containers.
  return chromium.launch({ executablePath, chromiumSandbox: process.getuid?.() !== 0 });
}

type NewOperator = Parameters<Store["operators"]["insert"]>[0];

const PASSWORD = "correct horse battery";

/** Adds an operator, by default an administrator of everything. */
export async function addOperator(
  store: Store,
  {
    name,
    email,
    roles = [{ project: null, role: "administrator" }],
  }: { name: string; email: string; roles?: NewOperator["roles"] },
) {
  return store.operators.insert({ name, email, roles, passwordHash: await hashPassword(PASSWORD) });
}

/** Gives a browser the cookie of an operator. */
export async function signIn(context: BrowserContext, { consoleUrl: url }: EmbeddedProduct, email: string) {
  const response = await fetch(`${url}/session`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email, password: PASSWORD }),
  });
  const [, name, value] = /^(\w+)=([^;]+)/.exec(response.headers.getSetCookie()[0] ?? "") ?? [];
  if (name === undefined || value === undefined) throw new Error(`sign-in failed: ${await response.text()}`);
  await context.addCookies([{ name, value, url, httpOnly: true, sameSite: "Strict" }]);
}
