/** Of a tool that changes nothing and looks only at what the service itself has. */
export const READS = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;

/** Of a tool that changes nothing, but has something else asked: a language model, or a tool of an agent. */
export const ASKS = { ...READS, idempotentHint: false, openWorldHint: true } as const;

/** Of a tool that adds something, and once only however often it is called with the same arguments. */
export const ADDS_ONCE = { ...READS, readOnlyHint: false } as const;
