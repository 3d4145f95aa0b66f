import type { Response } from "express";

/** What is wrong with a body before it is known which message it carries: a code of JSON-RPC, and what to do. */
export class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "RpcError";
    this.code = code;
  }
}

/** Answers 400 with an error of JSON-RPC, which clients of the protocol understand. */
export function sendRpcError(response: Response, { code, message }: RpcError): void {
  response.status(400).json({ jsonrpc: "2.0", id: null, error: { code, message } });
}
