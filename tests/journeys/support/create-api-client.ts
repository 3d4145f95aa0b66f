import type { ApiAnswer } from "./api-answer.ts";
import { callApi } from "./call-api.ts";
import type { ApiRequest } from "./call-api.ts";
import type { Product } from "./start-product.ts";

/** Which replica is asked, and what is sent besides. */
export interface ClientOptions extends Omit<ApiRequest, "json" | "project"> {
  /** By turns: 0 is the first replica, 1 another one where there is one. Default: 0. */
  replica?: number;
}

/** The two endpoints of messages, as an administrator who names the project calls them. */
export interface ApiClient {
  /** Base URL of a replica. */
  baseUrl(replica?: number): string;
  /** `POST /api/v1/messages`. */
  send(project: string, json: unknown, options?: ClientOptions): Promise<ApiAnswer>;
  /** `GET /api/v1/messages/:chatId`; the query with its question mark. */
  drain(project: string, chatId: string, query?: string, options?: ClientOptions): Promise<ApiAnswer>;
}

/** A client of whatever processes the product has at the time of each call. */
export function createApiClient(product: Product): ApiClient {
  const baseUrl = (replica = 0) => {
    const { apiUrls } = product.composition;
    return apiUrls[replica % apiUrls.length] ?? "";
  };
  return {
    baseUrl,
    send: (project, json, { replica, ...request } = {}) =>
      callApi(`${baseUrl(replica)}/api/v1/messages`, { key: product.adminKey, project, json, ...request }),
    drain: (project, chatId, query = "", { replica, ...request } = {}) =>
      callApi(`${baseUrl(replica)}/api/v1/messages/${encodeURIComponent(chatId)}${query}`, {
        key: product.adminKey,
        project,
        ...request,
      }),
  };
}
