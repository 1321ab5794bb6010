/** The form that a server asks to have filled in: its fields, and what fits them; knows nothing of VS Code. */

import { line } from "./plain";

export type Value = string | number | boolean | readonly string[];

/** One value to choose, and how it is called. */
export interface Option {
  readonly value: string;
  readonly title: string;
}

export interface Field {
  readonly name: string;
  readonly kind: "string" | "number" | "integer" | "boolean" | "array";
  readonly title: string;
  readonly description: string;
  readonly required: boolean;
  readonly options: readonly Option[];
  /** The bounds of a number, of a text's length, or of how many options are chosen. */
  readonly least: number | undefined;
  readonly most: number | undefined;
  readonly format: string | undefined;
  /** What is proposed; `undefined` where nothing is, or nothing that fits. */
  readonly proposal: Value | undefined;
}

/** `[value]`, `[]` for no answer, or a sentence about what does not fit. */
export type Reading = readonly [] | readonly [Value] | string;

type Json = Readonly<Record<string, unknown>>;

const BOUNDS = {
  string: ["minLength", "maxLength"],
  number: ["minimum", "maximum"],
  integer: ["minimum", "maximum"],
  boolean: ["", ""],
  array: ["minItems", "maxItems"],
} as const;

const FORMATS: Readonly<Record<string, [fits: (text: string) => boolean, example: string]>> = {
  email: [(text) => /^[^@\s]+@[^@\s]+$/u.test(text), "an e-mail address"],
  uri: [(text) => /^[A-Za-z][A-Za-z0-9+.-]*:\S*$/u.test(text), "an address such as https://example.com"],
  date: [isDate, "a date such as 2026-03-31"],
  "date-time": [isMoment, "a date and time such as 2026-03-31T18:00:00Z"],
};

/** The fields of a form, in order; `undefined` for a schema that no person can be shown. */
export function readFields(schema: unknown): readonly Field[] | undefined {
  if (!isObject(schema)) {
    return undefined;
  }
  const properties = schema["properties"] ?? {};
  const required = schema["required"];
  if (!isObject(properties)) {
    return undefined;
  }
  const names = new Set(Array.isArray(required) ? required : []);
  const fields = Object.entries(properties).map(([name, each]) => readField(name, each, names.has(name)));
  return fields.every((field) => field !== undefined) ? fields : undefined;
}

/** What a text that was typed means for a field that is typed. */
export function typed(field: Field, text: string): Reading {
  if (text === "") {
    return field.required ? "An answer is needed." : [];
  }
  if (field.kind === "string") {
    return checked(field, text);
  }
  const number = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/iu.test(text) ? Number(text) : Number.NaN;
  return checked(field, number);
}

/** What a value means for a field, in the field's own words. */
export function checked(field: Field, value: Value): Reading {
  const problem = problemOf(field, value);
  return problem ?? [value];
}

function readField(name: string, schema: unknown, required: boolean): Field | undefined {
  const kind = isObject(schema) ? schema["type"] : undefined;
  if (!isObject(schema) || !isKind(kind)) {
    return undefined;
  }
  const options = readOptions(schema, kind);
  if (kind === "array" && options.length === 0) {
    return undefined;
  }
  const [least, most] = BOUNDS[kind];
  const field: Field = {
    name,
    kind,
    title: textOf(schema["title"]) ?? name,
    description: textOf(schema["description"]) ?? "",
    required,
    options,
    least: numberOf(schema[least]),
    most: numberOf(schema[most]),
    format: textOf(schema["format"]),
    proposal: undefined,
  };
  const proposal = schema["default"];
  return isValue(proposal) && problemOf(field, proposal) === undefined && isPlain(proposal) ? { ...field, proposal } : field;
}

function readOptions(schema: Json, kind: Field["kind"]): readonly Option[] {
  const items = schema["items"];
  const holder = kind === "array" ? (isObject(items) ? items : {}) : kind === "string" ? schema : {};
  const values = holder["enum"];
  if (Array.isArray(values)) {
    const names: unknown = holder["enumNames"];
    const titles = Array.isArray(names) && names.length === values.length ? names : values;
    return values.flatMap((value: unknown, index) => (typeof value === "string" ? [{ value, title: textOf(titles[index]) ?? value }] : []));
  }
  const named = holder[kind === "array" ? "anyOf" : "oneOf"];
  return (Array.isArray(named) ? named : []).flatMap((each: unknown) => {
    const value = isObject(each) ? each["const"] : undefined;
    return isObject(each) && typeof value === "string" ? [{ value, title: textOf(each["title"]) ?? value }] : [];
  });
}

function problemOf(field: Field, value: Value): string | undefined {
  const known = new Set(field.options.map((option) => option.value));
  switch (field.kind) {
    case "boolean":
      return typeof value === "boolean" ? undefined : "Yes or no is needed.";
    case "array":
      return isList(value) && value.every((each) => known.has(each))
        ? outOf(field, value.length, "choices")
        : "Some of the choices are needed.";
    case "string":
      return typeof value === "string" ? problemOfText(field, value, known) : "A text is needed.";
    default:
      return problemOfNumber(field, value);
  }
}

function problemOfText(field: Field, text: string, known: ReadonlySet<string>): string | undefined {
  if (field.options.length > 0) {
    return known.has(text) ? undefined : "One of the choices is needed.";
  }
  const [fits, example] = FORMATS[field.format ?? ""] ?? [(): boolean => true, ""];
  return fits(text) ? outOf(field, Array.from(text).length, "characters") : `This has to be ${example}.`;
}

function problemOfNumber(field: Field, value: Value): string | undefined {
  if (typeof value !== "number" || !Number.isFinite(value)) {
    return "A number is needed.";
  }
  if (field.kind === "integer" && !Number.isInteger(value)) {
    return "A whole number is needed.";
  }
  return outOf(field, value, "");
}

function outOf({ least, most }: Field, size: number, unit: string): string | undefined {
  if (least !== undefined && size < least) {
    return `At least ${least} ${unit}`.trimEnd() + (unit === "" ? "." : " are needed.");
  }
  if (most !== undefined && size > most) {
    return `At most ${most} ${unit}`.trimEnd() + (unit === "" ? "." : " are allowed.");
  }
  return undefined;
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/u.test(text)) {
    return false;
  }
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.valueOf()) && date.toISOString().startsWith(text);
}

function isMoment(text: string): boolean {
  const [date, time] = text.split(/[Tt]/u);
  return (
    isDate(date ?? "") &&
    /^(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)?$/u.test(time ?? "")
  );
}

/** What is proposed must be seen as it is: with invisible characters it would not be. */
function isPlain(value: Value): boolean {
  return typeof value !== "string" || line(value, Infinity) === value;
}

function isKind(kind: unknown): kind is Field["kind"] {
  return typeof kind === "string" && Object.hasOwn(BOUNDS, kind);
}

function isValue(value: unknown): value is Value {
  return ["string", "number", "boolean"].includes(typeof value) || isList(value);
}

function isList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
