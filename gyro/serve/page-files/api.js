// What programs may ask, out of the server's own description (OpenAPI).

import { openapi } from "./client.js";
import { byId, fill, h } from "./dom.js";

const EXAMPLES = {
  "POST /order": `curl -s ${location.origin}/order -H 'Content-Type: application/json' \\
  -d '{"tokens": "the cat saw the dog .", "nbest": 3}'`,
  "POST /orders": `curl -sN '${location.origin}/orders?nbest=1' -H 'Content-Type: application/jsonl' \\
  --data-binary @bags.jsonl`,
  "POST /tokenize": `curl -s ${location.origin}/tokenize -H 'Content-Type: application/json' \\
  -d '{"text": "The cat did not sit."}'`,
  "GET /about": `curl -s ${location.origin}/about`,
};

function draw(spec) {
  const schemas = spec.components.schemas;
  const named = (schema) => {
    const name = schema?.$ref?.split("/").pop();
    return name ? { ...schemas[name], title: name } : schema;
  };
  const parts = Object.entries(spec.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => section(`${method.toUpperCase()}`, path, operation, named)),
  );
  const told = new Set(["Answer", "Order", "Reference", "StreamedFault", "Drawing", "About"]);
  const records = Object.entries(schemas).filter(([name]) => told.has(name));
  byId("about").textContent = "JSON over HTTP; every error is one line, {\"error\": \"…\"}.";
  fill(
    byId("doc"),
    parts,
    records.map(([name, schema]) => h("section", { id: name }, h("h2", {}, name), h("p", { class: "soft" }, schema.description ?? ""), keys(schema))),
    h("p", {}, h("a", { href: "/openapi.json" }, "openapi.json"), " has the same for tools."),
  );
}

function section(method, path, operation, named) {
  const contents = operation.requestBody?.content ?? {};
  const [kind] = Object.keys(contents);
  const body = kind && named(contents[kind].schema);
  const query = operation.parameters ?? [];
  const example = EXAMPLES[`${method} ${path}`];
  return h(
    "section",
    {},
    h("h2", {}, h("span", { class: "method" }, method), h("code", {}, path)),
    h("p", {}, operation.summary),
    operation.description && h("p", { class: "soft" }, operation.description),
    example && h("pre", { tabindex: 0 }, example),
    body && h("h3", {}, `What comes (${Object.keys(contents).join(", ")})`),
    body && (path === "/orders" ? h("p", {}, "A line for each bag, with the keys of POST /order.") : keys(body)),
    query.length > 0 && h("p", { class: "soft" }, `In the query: ${query.map((each) => each.name).join(", ")}.`),
    h("h3", {}, "What goes"),
    h("table", {}, h("tbody", {}, Object.entries(operation.responses).map(([status, response]) => {
      const schema = named(Object.values(response.content ?? {})[0]?.schema);
      const name = schema?.title;
      return h("tr", {}, h("td", {}, h("code", {}, status)), h("td", {}, name ? h("code", {}, name) : ""), h("td", {}, response.description));
    }))),
  );
}

function keys(schema) {
  const rows = Object.entries(schema.properties ?? {}).map(([name, value]) =>
    h("tr", {}, h("td", {}, h("code", {}, name)), h("td", { class: "soft" }, typeOf(value)), h("td", {}, value.description ?? "")),
  );
  return h("table", {}, h("tbody", {}, rows));
}

function typeOf(schema) {
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.enum) return schema.enum.join(" | ");
  if (schema.anyOf) return schema.anyOf.map(typeOf).filter((name) => name !== "null").join(" | ");
  if (schema.type === "array") return `[${schema.items ? typeOf(schema.items) : ""}]`;
  return schema.type ?? "any";
}

openapi().then(draw, (error) => fill(byId("doc"), h("p", { role: "alert" }, error.message)));
