/** The part of JSON Schema that the contract's schemas use. */
export interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
}

interface Field {
  /** With the names around it: `shares[].expires_at`. */
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
}

/** All fields of an object, the inner ones too. */
export function fieldsOf(schema: Schema, prefix = ""): readonly Field[] {
  const { required = [] } = schema;
  return Object.entries(schema.properties ?? {}).flatMap(([key, inner]) => {
    const name = `${prefix}${key}`;
    return [{ name, type: typeOf(inner), required: required.includes(key) }, ...innerFields(inner, name)];
  });
}

function innerFields(schema: Schema, name: string): readonly Field[] {
  const object = withoutNull(schema);
  if (object.items) return innerFields(object.items, `${name}[]`);
  if (typeof object.additionalProperties === "object") return innerFields(object.additionalProperties, `${name}.{key}`);
  return fieldsOf(object, `${name}.`);
}

function typeOf(schema: Schema): string {
  const { anyOf, items, format, type = "any" } = schema;
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(", ");
  if (anyOf) return [...new Set(anyOf.map(typeOf))].join(" or ");
  if (items) return `array of ${typeOf(items)}`;
  if (format === "date-time") return "time";
  return format === undefined ? type : `${type} (${format})`;
}

function withoutNull(schema: Schema): Schema {
  return schema.anyOf?.find(({ type }) => type !== "null") ?? schema;
}
