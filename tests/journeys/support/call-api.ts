import { apiAnswer } from "./api-answer.ts";
import type { ApiAnswer } from "./api-answer.ts";

/** A request: `json` is sent as JSON, `body` unchanged. */
export interface ApiRequest {
  method?: string;
  /** Sent as a bearer token. */
  key?: string;
  /** Sent as `x-svc-project`. */
  project?: string;
  headers?: Record<string, string>;
  json?: unknown;
  body?: string | Uint8Array<ArrayBuffer>;
  signal?: AbortSignal;
}

/** Sends one request with fetch and reads the response. Never rejects because of a status. */
export async function callApi(url: string, request: ApiRequest = {}): Promise<ApiAnswer> {
  const { key, project, json, headers, signal } = request;
  const body = json === undefined ? request.body : JSON.stringify(json);
  const response = await fetch(url, {
    method: request.method ?? (body === undefined ? "GET" : "POST"),
    headers: {
      ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
      ...(project === undefined ? {} : { "x-svc-project": project }),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
    ...(signal === undefined ? {} : { signal }),
  });
  return apiAnswer(response.status, response.headers, await response.text());
}
