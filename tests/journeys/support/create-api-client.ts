import type { ApiAnswer } from "./api-answer.ts";
import { callApi } from "./call-api.ts";
import type { ApiRequest } from "./call-api.ts";
import type { Product } from "./start-product.ts";

/** The replica to call, and additional request options. */
export interface ClientOptions extends Omit<ApiRequest, "json" | "project"> {
  /** Index of a replica: 0 is the first, 1 another one if there are several. Default: 0. */
  replica?: number;
}

/** The two message endpoints, called by an administrator who specifies the project. */
export interface ApiClient {
  /** Returns the base URL of a replica. */
  baseUrl(replica?: number): string;
  /** `POST /api/v1/messages`. */
  send(project: string, json: unknown, options?: ClientOptions): Promise<ApiAnswer>;
  /** `GET /api/v1/messages/:chatId`; the query includes its question mark. */
  drain(project: string, chatId: string, query?: string, options?: ClientOptions): Promise<ApiAnswer>;
}

/** Returns a client of the processes that the product has at the time of each call. */
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
