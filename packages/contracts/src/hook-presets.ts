import type { HookPreset, HookPresetDefaults } from "./hook.ts";

const GITHUB_EVENT = "$headers['x-github-event']";

/**
 * Authentication and mapping for the webhooks of well-known platforms. Each part can be overridden. The formats are
 * those documented by the platforms.
 */
export const HOOK_PRESETS: Record<HookPreset, HookPresetDefaults> = {
  // Issues, and people's comments on them: one chat per issue.
  github: {
    auth: { type: "github" },
    mapping: {
      text: ["{{$.comment.body}}", "{{$.issue.title}}\n\n{{$.issue.body}}", "{{$.issue.title}}"],
      chatId: "github:{{$.repository.full_name}}#{{$.issue.number}}",
      userId: "{{$.sender.login}}",
      meta: {
        event: `{{${GITHUB_EVENT}}}`,
        action: "{{$.action}}",
        repository: "{{$.repository.full_name}}",
        issue: "{{$.issue.number}}",
        url: ["{{$.comment.html_url}}", "{{$.issue.html_url}}"],
        labels: "{{$.issue.labels[*].name}}",
      },
      eventId: "{{$headers['x-github-delivery']}}",
    },
    filter: [
      { path: GITHUB_EVENT, equals: ["issues", "issue_comment"] },
      { path: "$.action", equals: ["opened", "reopened", "created"] },
      // A bot that posts our answer to the issue must not trigger another answer.
      { path: "$.sender.type", not: "Bot" },
    ],
  },
  // Payment events, by the object of the event: one chat per customer.
  stripe: {
    auth: { type: "stripe" },
    mapping: {
      text: [
        "{{$.type}}: {{$.data.object.amount_total}} {{$.data.object.currency}}, {{$.data.object.payment_status}} ({{$.data.object.id}})",
        "{{$.type}}: {{$.data.object.amount}} {{$.data.object.currency}}, reason {{$.data.object.reason}} ({{$.data.object.id}})",
        "{{$.type}}: {{$.data.object.description}} ({{$.data.object.id}})",
        "{{$.type}}: {{$.data.object.id}}",
      ],
      chatId: ["stripe:{{$.data.object.customer}}", "stripe:{{$.data.object.charge}}", "stripe:{{$.data.object.id}}"],
      userId: ["{{$.data.object.customer}}", "{{$.data.object.customer_details.email}}"],
      meta: {
        event: "{{$.type}}",
        object: "{{$.data.object.id}}",
        livemode: "{{$.livemode}}",
        amount: ["{{$.data.object.amount_total}}", "{{$.data.object.amount}}"],
        currency: "{{$.data.object.currency}}",
        email: "{{$.data.object.customer_details.email}}",
      },
      eventId: "{{$.id}}",
    },
    filter: [],
  },
  // The answers of a form, one per line: each response is a chat.
  typeform: {
    auth: { type: "typeform" },
    mapping: {
      text: "{{$.form_response.answers[*]..['text','label','labels','email','phone_number','number','boolean','date','url','file_url']}}",
      chatId: "typeform:{{$.form_response.token}}",
      userId: ["{{$.form_response.hidden.user_id}}", "{{$.form_response.answers[*].email}}"],
      meta: {
        form: "{{$.form_response.form_id}}",
        title: "{{$.form_response.definition.title}}",
        submittedAt: "{{$.form_response.submitted_at}}",
        hidden: "{{$.form_response.hidden}}",
      },
      eventId: "{{$.event_id}}",
    },
    filter: [{ path: "$.event_type", equals: "form_response" }],
  },
  // An order with the customer's note: one chat per customer.
  shopify: {
    auth: { type: "shopify" },
    mapping: {
      text: [
        "Order {{$.name}}: {{$.note}}\n{{$.line_items[*].name}}",
        "Order {{$.name}}\n{{$.line_items[*].name}}",
        "{{$headers['x-shopify-topic']}}: {{$.id}}",
      ],
      chatId: ["shopify:{{$.customer.id}}", "shopify:{{$.id}}"],
      userId: ["{{$.customer.email}}", "{{$.email}}", "{{$.customer.id}}"],
      meta: {
        topic: "{{$headers['x-shopify-topic']}}",
        shop: "{{$headers['x-shopify-shop-domain']}}",
        order: "{{$.id}}",
        total: "{{$.total_price}}",
        currency: "{{$.currency}}",
      },
      eventId: ["{{$headers['x-shopify-event-id']}}", "{{$headers['x-shopify-webhook-id']}}"],
    },
    filter: [],
  },
  // A custom contact form: each submission is a chat.
  form: {
    auth: { type: "path" },
    mapping: {
      text: [
        "{{$.message}}",
        "{{$.text}}",
        "{{$.question}}",
        "{{$.comment}}",
        "{{$.comments}}",
        "{{$.body}}",
        "{{$.description}}",
      ],
      userId: ["{{$.email}}", "{{$.name}}"],
      meta: {
        name: "{{$.name}}",
        email: "{{$.email}}",
        phone: "{{$.phone}}",
        subject: "{{$.subject}}",
        page: ["{{$.page}}", "{{$.url}}"],
      },
    },
    filter: [],
  },
};
