import { CALLBACK_TYPES } from "@svc/contracts";
import type { CallbackType } from "@svc/contracts";
import { makeExample } from "./make-example.ts";
import type { JsonSchema, OperationObject, Parameter } from "./openapi-document.ts";

const text: JsonSchema = { type: "string" };

/** Headers of a callback (service document, section 6). */
const HEADERS: Record<string, { description: string; schema: JsonSchema }> = {
  "X-Svc-Signature": {
    description: "`sha256=` and the HMAC-SHA256 of the body's bytes, in hexadecimal.",
    schema: { ...text, pattern: "^sha256=[0-9a-f]{64}$" },
  },
  "X-Svc-Delivery": { description: "Id of the delivery, the same in all tries.", schema: { ...text, format: "uuid" } },
  "X-Svc-Attempt": { description: "Which try this is.", schema: { type: "integer", minimum: 1 } },
  "webhook-id": { description: "As Standard Webhooks says: id of the delivery.", schema: text },
  "webhook-timestamp": { description: "Seconds since 1970.", schema: text },
  "webhook-signature": { description: "One value for each secret that is valid.", schema: text },
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
    summary: `A message's callback: ${type}`,
    description: CALLBACK_TYPES[type],
    security: [],
    parameters,
    requestBody: {
      description: "What has become of the message.",
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
      "2XX": { description: "Received. Any other answer, or none within 15 seconds, means that it is tried again." },
      "410": { description: "Gone: it is not tried again, and its replies go to the drain." },
    },
  });
  const types = Object.keys(CALLBACK_TYPES) as CallbackType[];
  return Object.fromEntries(types.map((type) => [type, { post: describe(type) }]));
}
