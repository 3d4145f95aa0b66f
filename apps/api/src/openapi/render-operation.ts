import { escapeHtml, inlineHtml, paragraphs } from "./html.ts";
import type {
  MediaType,
  OpenApiDocument,
  OperationObject,
  Parameter,
  Reference,
  ResponseObject,
} from "./openapi-document.ts";
import { fieldHtml, schemaHtml, typeHtml } from "./render-schema.ts";
import type { SchemaView } from "./render-schema.ts";

type Components = OpenApiDocument["components"];

/** Where an operation is. */
export interface OperationPlace {
  /** In capitals. */
  method: string;
  path: string;
  operation: OperationObject;
}

/** Longer JSON is shown on several lines. */
const ONE_LINE_CHARS = 60;
const PROBLEM = "application/problem+json";
const nameOf = ({ $ref }: Reference) => $ref.split("/").at(-1) ?? "";

function resolve<Part extends object>(part: Part | Reference, components: Record<string, Part>): Part | undefined {
  return "$ref" in part ? components[nameOf(part)] : part;
}

const sent = ({ schemas }: Components): SchemaView => ({ schemas, tells: "required" });

const PLACES = { path: "in the path", query: "in the query", header: "header" };

function parametersHtml({ parameters = [] }: OperationObject, components: Components): string {
  const items = parameters.flatMap((part) => {
    const parameter = resolve<Parameter>(part, components.parameters);
    if (parameter === undefined) return [];
    const { name, schema, required, description } = parameter;
    const words = description === undefined ? {} : { description };
    const field = { name, schema: { ...schema, ...words }, isRequired: required, place: PLACES[parameter.in] };
    return [fieldHtml(field, sent(components))];
  });
  return items.length === 0 ? "" : `<h4>Parameters</h4><ul class="fields">${items.join("")}</ul>`;
}

function bodyHtml({ requestBody }: OperationObject, components: Components): string {
  if (requestBody === undefined) return "";
  const view = sent(components);
  const kinds = Object.entries(requestBody.content).map(([type, { schema }]) => {
    const name = `<code>${escapeHtml(type)}</code>`;
    if (type !== "application/json") return `<p class="words">${name} ${inlineHtml(schema.description ?? "")}</p>`;
    const link = schema.$ref === undefined ? "" : ` ${typeHtml(schema, view)}`;
    return `<p class="words">${name}${link}</p>${schemaHtml(schema, view)}`;
  });
  const may = requestBody.required ? "" : " Optional.";
  return `<h4>Body</h4><p>${inlineHtml(requestBody.description)}${may}</p>${kinds.join("")}`;
}

const exampleValue = (media: MediaType): unknown => {
  const [example] = Object.values(media.examples ?? {});
  return example !== undefined && "value" in example ? example.value : undefined;
};

function answerHtml(status: string, answer: ResponseObject, components: Components): string {
  const view: SchemaView = { schemas: components.schemas, tells: "absent" };
  const shown = Object.entries(answer.content ?? {}).filter(([type]) => type !== PROBLEM);
  const content = shown.map(([type, media]) => {
    if (type !== "application/json") return `<p class="words"><code>${escapeHtml(type)}</code></p>`;
    const example = exampleValue(media);
    const { schema } = media;
    const named = schema.$ref === undefined ? "" : `<p class="words">${typeHtml(schema, view)}</p>`;
    return [
      named === "" ? schemaHtml(schema, view) : named,
      example === undefined
        ? ""
        : `<details><summary>Example</summary><pre tabindex="0">${escapeHtml(JSON.stringify(example, null, 2))}</pre></details>`,
    ].join("");
  });
  if (answer["x-event-stream"] !== undefined) {
    content.push(`<p class="words">Or, if the request accepts it: <code>text/event-stream</code></p>`);
  }
  const headers = Object.keys(answer.headers ?? {}).map((name) => `<code>${escapeHtml(name)}</code>`);
  return [
    `<li><span class="status">${escapeHtml(status)}</span> ${paragraphs(answer.description)}`,
    content.join(""),
    headers.length === 0 ? "" : `<p class="headers">Headers: ${headers.join(", ")}</p>`,
    "</li>",
  ].join("");
}

/** The codes of the errors that a response has examples of. */
const codesOf = ({ content }: ResponseObject) => Object.keys(content?.[PROBLEM]?.examples ?? {});

function errorsHtml(responses: [string, ResponseObject][]): string {
  const items = responses.flatMap(([status, response]) =>
    codesOf(response).map(
      (code) => `<li><span class="status">${status}</span> <a href="#error-${code}"><code>${code}</code></a></li>`,
    ),
  );
  return items.length === 0 ? "" : `<h4>Errors</h4><ul class="errors">${items.join("")}</ul>`;
}

/** JSON on one line where it is short. */
const jsonText = (value: unknown) => {
  const line = JSON.stringify(value);
  return line.length <= ONE_LINE_CHARS ? line : JSON.stringify(value, null, 2);
};

/** A word that a shell takes as it is. */
const shellWord = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** The call with curl, as it can be copied. */
function curlOf({ method, path, operation }: OperationPlace): string {
  const { parameters = [], requestBody, security = [] } = operation;
  const query = parameters.flatMap((part) =>
    "in" in part && part.in === "query" && part.example !== undefined
      ? [`${encodeURIComponent(part.name)}=${encodeURIComponent(part.example)}`]
      : [],
  );
  const address = `${path.replaceAll(/\{(\w+)\}/g, "<$1>")}${query.length === 0 ? "" : `?${query.join("&")}`}`;
  const json = requestBody?.content["application/json"];
  const body = json === undefined ? undefined : exampleValue(json);
  const isChecked = parameters.some((part) => "$ref" in part && nameOf(part).endsWith("IfMatch"));
  return [
    `curl${method === "GET" || (method === "POST" && body !== undefined) ? "" : ` -X ${method}`} "$SVC_URL${address}"`,
    ...(security.length === 0 ? [] : ['-H "X-Api-Key: $SVC_KEY"']),
    ...(isChecked ? [`-H ${shellWord('If-Match: "3"')}`] : []),
    ...(body === undefined
      ? []
      : [`-H ${shellWord("Content-Type: application/json")}`, `-d ${shellWord(jsonText(body))}`]),
  ].join(" \\\n  ");
}

/** One operation as a section of the page, with an anchor of its name. */
export function operationHtml(place: OperationPlace, components: Components): string {
  const { method, path, operation } = place;
  const { operationId, summary, description = "" } = operation;
  const responses = Object.entries(operation.responses).flatMap(([status, part]): [string, ResponseObject][] => {
    const response = resolve<ResponseObject>(part, components.responses);
    return response === undefined ? [] : [[status, response]];
  });
  const answers = responses.filter(
    ([, { content }]) => content?.[PROBLEM] === undefined || Object.keys(content).length > 1,
  );
  const isOurs = path.startsWith("/");
  return [
    `<section class="operation" id="${escapeHtml(operationId)}">`,
    `<h3><a href="#${escapeHtml(operationId)}">${escapeHtml(summary)}</a></h3>`,
    `<p class="address"><span class="method ${method.toLowerCase()}">${method}</span> <code>${escapeHtml(path).replaceAll("/", "/<wbr>")}</code></p>`,
    description === "" ? "" : paragraphs(description),
    isOurs && operation.security?.length === 0 ? "<p>Requires no key.</p>" : "",
    parametersHtml(operation, components),
    bodyHtml(operation, components),
    isOurs ? `<h4>Request</h4><pre tabindex="0">${escapeHtml(curlOf(place))}</pre>` : "",
    `<h4>Responses</h4><ul class="answers">${answers.map(([status, answer]) => answerHtml(status, answer, components)).join("")}</ul>`,
    errorsHtml(responses),
    "</section>",
  ].join("\n");
}
