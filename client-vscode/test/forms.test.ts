/** A server's form as fields, and what is taken as an answer: nothing that the schema does not allow. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { checked, type Field, readFields, typed } from "../src/forms";

function field(schema: object, required = false): Field {
  const read = readFields({ type: "object", properties: { one: schema }, required: required ? ["one"] : [] });
  const [only] = read ?? [];
  assert.ok(only !== undefined);
  return only;
}

test("fields come in the schema's order, with their names where they have no title", () => {
  const fields = readFields({
    properties: { b: { type: "string", title: "Bee", description: "buzzes" }, a: { type: "boolean" } },
    required: ["a"],
  });
  assert.deepEqual(
    fields?.map(({ name, title, description, required }) => [name, title, description, required]),
    [
      ["b", "Bee", "buzzes", false],
      ["a", "a", "", true],
    ],
  );
});

test("a form without fields is one, and what is no flat form is none", () => {
  assert.deepEqual(readFields({ type: "object" }), []);
  for (const schema of [
    null,
    [],
    "x",
    { properties: [] },
    { properties: { a: null } },
    { properties: { a: { type: "object" } } },
    { properties: { a: { type: "toString" } } },
    { properties: { a: { type: ["string", "null"] } } },
    { properties: { a: { type: "array", items: { type: "string" } } } },
  ]) {
    assert.equal(readFields(schema), undefined, JSON.stringify(schema));
  }
});

test("every spelling of choices is read, titles included", () => {
  const expected = [
    { value: "r", title: "Red" },
    { value: "b", title: "b" },
  ];
  assert.deepEqual(field({ type: "string", enum: ["r", "b"], enumNames: ["Red", ""] }).options, expected);
  assert.deepEqual(field({ type: "string", oneOf: [{ const: "r", title: "Red" }, { const: "b" }, { const: 7 }] }).options, expected);
  assert.deepEqual(field({ type: "array", items: { enum: ["r", "b"] } }).options.map(({ value }) => value), ["r", "b"]);
  assert.deepEqual(field({ type: "array", items: { anyOf: [{ const: "r", title: "Red" }, { const: "b" }] } }).options, expected);
});

test("numbers are numbers, whole where they have to be, and within their bounds", () => {
  const age = field({ type: "integer", minimum: 1, maximum: 150 });
  assert.deepEqual(typed(age, " 42 "), [42]);
  for (const wrong of ["4.5", "0", "151", "x", "0x10", "1e999", "Infinity", "--1", "1 2"]) {
    assert.equal(typeof typed(age, wrong), "string", wrong);
  }
  assert.deepEqual(typed(field({ type: "number" }), "-1.5e3"), [-1500]);
});

test("an empty line is no answer, and too little where one is needed", () => {
  assert.deepEqual(typed(field({ type: "string" }), ""), []);
  assert.deepEqual(typed(field({ type: "number" }), ""), []);
  assert.equal(typeof typed(field({ type: "string" }, true), ""), "string");
});

test("texts are measured in characters as the server measures them", () => {
  const short = field({ type: "string", minLength: 2, maxLength: 3 });
  assert.deepEqual(typed(short, "👩👩"), ["👩👩"]);
  assert.equal(typeof typed(short, "a"), "string");
  assert.equal(typeof typed(short, "abcd"), "string");
});

test("formats are held", () => {
  const fits: Record<string, readonly [string[], string[]]> = {
    email: [["a@b"], ["a", "a@b c", "@"]],
    uri: [["https://a.b/c", "urn:x"], ["a b", "/x", "1a:b"]],
    date: [["2024-02-29"], ["2023-02-29", "2024-2-1", "today"]],
    "date-time": [["2024-02-29T10:00:00Z", "2024-02-29t10:00:00.5+02:00"], ["2024-02-29", "2024-02-29T25:00:00Z", "T"]],
    "of-its-own": [["anything"], []],
  };
  for (const [format, [right, wrong]] of Object.entries(fits)) {
    const one = field({ type: "string", format });
    right.forEach((text) => { assert.deepEqual(typed(one, text), [text], text); });
    wrong.forEach((text) => { assert.equal(typeof typed(one, text), "string", `${format} ${text}`); });
  }
});

test("only choices are chosen, as many as allowed", () => {
  const some = field({ type: "array", items: { enum: ["a", "b", "c"] }, minItems: 1, maxItems: 2 });
  assert.deepEqual(checked(some, ["a", "c"]), [["a", "c"]]);
  for (const wrong of [[], ["a", "b", "c"], ["d"], "a", true]) {
    assert.equal(typeof checked(some, wrong), "string");
  }
  assert.equal(typeof checked(field({ type: "string", enum: ["a"] }), "b"), "string");
  assert.equal(typeof checked(field({ type: "boolean" }), "true"), "string");
});

test("a default is proposed where it fits and can be seen as it is, and nothing else is", () => {
  const proposals: [object, unknown][] = [
    [{ type: "string", default: "Ada" }, "Ada"],
    [{ type: "number", default: 0 }, 0],
    [{ type: "boolean", default: false }, false],
    [{ type: "array", items: { enum: ["a"] }, default: ["a"] }, ["a"]],
    [{ type: "string", default: 7 }, undefined],
    [{ type: "integer", default: 1.5 }, undefined],
    [{ type: "string", enum: ["a"], default: "b" }, undefined],
    [{ type: "string", default: null }, undefined],
    [{ type: "string", default: "a\u202eb" }, undefined],
    [{ type: "string", default: "a\u{e0041}" }, undefined],
    [{ type: "string", default: "a\nb" }, undefined],
  ];
  for (const [schema, proposal] of proposals) {
    assert.deepEqual(field(schema).proposal, proposal, JSON.stringify(schema));
  }
});

test("names that mean something to JavaScript are names like others", () => {
  const schema: unknown = JSON.parse('{"properties": {"__proto__": {"type": "string"}, "constructor": {"type": "boolean"}}}');
  assert.deepEqual(readFields(schema)?.map(({ name }) => name), ["__proto__", "constructor"]);
});
