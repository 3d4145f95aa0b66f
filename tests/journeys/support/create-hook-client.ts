import { readFileSync } from "node:fs";
import type { HookBodyItem, HookInput, HookSecretItem } from "@svc/contracts";
import type { ApiAnswer } from "./api-answer.ts";
import { callApi } from "./call-api.ts";
import type { ApiRequest } from "./call-api.ts";
import type { Product } from "./start-product.ts";

/** The hooks of one project, called by its administrator and by platforms. */
export interface HookClient {
  /** Calls a path below `/api/v1/admin/hooks` as an administrator, alternating between replicas. */
  admin(path: string, request?: ApiRequest): Promise<ApiAnswer>;
  /** Creates a hook; throws if it is rejected. */
  make(input: Omit<HookInput, "name"> & { name?: string }): Promise<HookSecretItem>;
  /** Posts to a hook like a platform, each time from another address unless one is given. */
  post(url: string, request: ApiRequest & { from?: string; replica?: number }): Promise<ApiAnswer>;
  /** Returns the last bodies of a hook. */
  bodies(id: string): Promise<HookBodyItem[]>;
}

/** Returns a body from a platform's documentation. */
export function hookSample(name: string): string {
  return readFileSync(new URL(`hook-samples/${name}.json`, import.meta.url), "utf8");
}

/**
 * Returns a client of the hooks of a project. The product must trust this machine as a proxy, so that addresses can be
 * set.
 */
export function createHookClient(product: Product, project: string): HookClient {
  let calls = 0;
  const urlOf = (path: string, replica: number) => {
    const { apiUrls } = product.composition;
    return `${apiUrls[replica % apiUrls.length] ?? ""}${path}`;
  };
  const admin = (path: string, request: ApiRequest = {}) =>
    callApi(urlOf(`/api/v1/admin/hooks${path}`, calls++), { key: product.adminKey, project, ...request });
  return {
    admin,
    async make(input) {
      const made = await admin("", { json: { name: `hook ${calls}`, ...input } });
      if (made.status !== 201) throw new Error(`the hook was not made: ${made.text}`);
      return (made.body as unknown as { item: HookSecretItem }).item;
    },
    post(url, { from, replica, headers, ...request }) {
      const number = calls++;
      const address = from ?? `198.51.${number >> 8}.${number & 255}`;
      return callApi(urlOf(url, replica ?? number), {
        method: "POST",
        ...request,
        headers: { "X-Forwarded-For": address, ...headers },
      });
    },
    bodies: async (id) => ((await admin(`/${id}/bodies`)).body as unknown as { items: HookBodyItem[] }).items,
  };
}
