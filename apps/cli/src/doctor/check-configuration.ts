import { isGuessableKey } from "@svc/auth";
import { ConfigError, SETTINGS, loadConfig, readEnvironment } from "@svc/runtime";
import type { EarlyConfig } from "@svc/runtime";
import type { Environment } from "../cli.ts";
import type { Check } from "./check.ts";

const NAME = "Configuration";
const ADVICE = "See docs/configuration.md.";

function faultsOf(read: () => unknown): string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

/** Variables that the documentation, a command or an API client uses, and that the service does not read. */
const OF_CLIENTS = ["SVC_WEBHOOK_SECRET", "SVC_URL", "SVC_KEY"];

/** Variables that look like settings and are none: mostly slips of the pen. */
function checkUnknownNames(env: Environment): Check[] {
  const known = new Set([...OF_CLIENTS, ...Object.keys(SETTINGS).flatMap((name) => [name, `${name}_FILE`])]);
  const unknown = Object.keys(env).filter((name) => name.startsWith("SVC_") && !known.has(name));
  return unknown.map((name) => ({
    name: NAME,
    status: "warn",
    detail: `${name} is not a setting and has no effect`,
    advice: `Correct the name. ${ADVICE}`,
  }));
}

/** Warns of an administrator's key that somebody could guess. */
function checkAdminKey({ adminKey }: EarlyConfig): Check[] {
  if (adminKey === undefined || !isGuessableKey(adminKey)) return [];
  const advice = "Set a random value, for example from: openssl rand -hex 32";
  return [{ name: NAME, status: "warn", detail: "SVC_ADMIN_KEY is easy to guess", advice }];
}

/** Warns of single sign-on whose redirect address is the host name that each caller sends through the proxy. */
function checkOidcHost({ oidc, publicUrls, trustProxy }: EarlyConfig): Check[] {
  if (oidc === undefined || publicUrls.length > 0 || trustProxy.length === 0) return [];
  const detail = "SVC_OIDC_ISSUER is set without SVC_PUBLIC_URLS: single sign-on redirects to any host in the request";
  return [{ name: NAME, status: "warn", detail, advice: "Set SVC_PUBLIC_URLS to the console's public URL." }];
}

/**
 * Warns of a proxy that is not listed: the ports speak HTTP only, so that a public URL with TLS is one of a proxy. Its
 * callers would share the limits of one address, such as the text that visitors of the widget can send in a day.
 */
function checkProxy({ publicUrls, trustProxy }: EarlyConfig): Check[] {
  const url = publicUrls.find((publicUrl) => publicUrl.startsWith("https:"));
  if (url === undefined || trustProxy.length > 0) return [];
  const detail = `${url} is served by a proxy, and SVC_TRUST_PROXY lists none: all callers share the limits of one address`;
  return [{ name: NAME, status: "warn", detail, advice: "Set SVC_TRUST_PROXY to the address of the proxy." }];
}

/** Checks the settings of the environment, with every fault; the configuration is null when it has some. */
export function checkConfiguration(env: Environment): { checks: Check[]; config: EarlyConfig | null } {
  let faults = faultsOf(() => readEnvironment(env));
  const config = faults.length === 0 ? readEnvironment(env) : null;
  // A database of one's own comes with a secret key.
  if (config?.databaseUrl !== undefined) faults = faultsOf(() => loadConfig(env));
  if (config === null || faults.length > 0) {
    const checks = faults.map((detail): Check => ({ name: NAME, status: "fail", detail, advice: ADVICE }));
    return { checks: [...checks, ...checkUnknownNames(env)], config: null };
  }
  return {
    checks: [
      { name: NAME, status: "ok", detail: "all settings are valid" },
      ...checkAdminKey(config),
      ...checkOidcHost(config),
      ...checkProxy(config),
      ...checkUnknownNames(env),
    ],
    config,
  };
}
