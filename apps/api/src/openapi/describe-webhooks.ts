import { CALLBACK_TYPES } from "@svc/contracts";
import type { CallbackType } from "@svc/contracts";
import { makeExample } from "./make-example.ts";
import type { JsonSchema, OperationObject, Parameter } from "./openapi-document.ts";

const text: JsonSchema = { type: "string" };

/** Headers of a callback (service document, section 6). */
const HEADERS: Record<string, { description: string; schema: JsonSchema }> = {
  "X-Svc-Signature": {
    description: "`sha256=` followed by the HMAC-SHA256 of the raw body, in hex.",
    schema: { ...text, pattern: "^sha256=[0-9a-f]{64}$" },
  },
  "X-Svc-Delivery": {
    description: "ID of the delivery, the same in all attempts.",
    schema: { ...text, format: "uuid" },
  },
  "X-Svc-Attempt": { description: "Number of the attempt.", schema: { type: "integer", minimum: 1 } },
  "webhook-id": { description: "ID of the delivery, as defined by Standard Webhooks.", schema: text },
  "webhook-timestamp": { description: "Unix time in seconds.", schema: text },
  "webhook-signature": { description: "One signature for each valid secret.", schema: text },
};

/** The callbacks that the service makes to a message's `webhookUrl`; their body is one of the named schemas. */
export function describeWebhooks(schemas: Record<string, JsonSchema>): Record<string, { post: OperationObject }> {
  const body = { $ref: "#/components/schemas/CallbackBody" };
  const example = makeExample(body, schemas) as object;
  const parameters = Object.entries(HEADERS).map(([name, header]): Parameter => ({
    name,
    in: "header",
    required: true,
    ...header,
  }));
  const describe = (type: CallbackType): OperationObject => ({
    operationId: `on${type.replaceAll(/[._](\w)|^(\w)/g, (_, inner?: string, first?: string) => (inner ?? first ?? "").toUpperCase())}`,
    tags: ["Callbacks"],
    summary: `Callback: ${type}`,
    description: CALLBACK_TYPES[type],
    security: [],
    parameters,
    requestBody: {
      description: "Result of the message.",
      required: true,
      content: {
        "application/json": {
          schema: {
            allOf: [body, { type: "object", properties: { type: { const: type } } }],
          },
          examples: { default: { value: { ...example, type } } },
        },
      },
    },
    responses: {
      "2XX": {
        description: "Received. Any other response, or none within 15 seconds, counts as a failure and is retried.",
      },
      "410": { description: "Gone: the callback is not retried, and its replies can be collected by polling." },
    },
  });
  const types = Object.keys(CALLBACK_TYPES) as CallbackType[];
  return Object.fromEntries(types.map((type) => [type, { post: describe(type) }]));
}
