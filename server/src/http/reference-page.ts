import type { openApiDocument } from '#contract/openapi.ts'
import { escaped, plainPage } from './plain-page.ts'

/** The parts of the OpenAPI document that the page shows. */
interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}
interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema: Schema
}
interface Media {
  readonly schema: Schema
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, unknown>>
}
type Content = Readonly<Record<string, Media>>
interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tags: readonly string[]
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters?: readonly (Parameter & { readonly $ref?: string })[]
  readonly requestBody?: {
    readonly required?: boolean
    readonly description?: string
    readonly content: Content
  }
  readonly responses: Readonly<Record<string, { readonly content: Content }>>
  readonly 'x-codeSamples'?: readonly {
    readonly lang: string
    readonly label: string
    readonly source: string
  }[]
}
interface Document {
  readonly info: { readonly version: string; readonly description: string }
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>
  readonly components: {
    readonly parameters: Readonly<Record<string, Parameter>>
    readonly schemas: Readonly<Record<string, Schema>>
  }
}

/** The address of the page that can also send requests. It needs JavaScript. */
export const interactivePath = '/docs/interactive'

/**
 * The reference: every operation with its callers, parameters, fields, examples, problems and programs, as one page that needs no
 * JavaScript. Everything on it is from the OpenAPI document.
 */
export function referencePage(openApi: ReturnType<typeof openApiDocument>): string {
  const document = openApi as unknown as Document
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  )
  const events = Object.entries(document.webhooks).map(([type, { post }]) => ({
    name: `event ${type}`,
    operation: post,
  }))
  const tags = document.tags.map(({ name, description }) => ({
    name,
    description,
    shown: [...operations, ...events].filter(({ operation }) => operation.tags.includes(name)),
  }))
  const contents = tags.map(
    ({ name, shown }) =>
      `<h3>${escaped(name)}</h3><ul>${shown
        .map(
          ({ name: address, operation: { operationId, summary } }) =>
            `<li><a href="#${operationId}"><code>${escaped(address)}</code></a> ${escaped(summary)}</li>`,
        )
        .join('')}</ul>`,
  )
  const sections = tags.map(
    ({ name, description, shown }) =>
      `<h2>${escaped(name)}</h2><p>${escaped(description)}</p>${shown
        .map((one) => operationSection(one.name, one.operation, document))
        .join('')}`,
  )
  return plainPage(
    'API reference',
    `<h1>Lanewise API ${escaped(document.info.version)}</h1><p>${escaped(document.info.description)}</p><p>This page is made from <a href="/openapi.json">the OpenAPI document</a>. <a href="${interactivePath}/">The interactive reference</a> can send requests that need no signature; it needs JavaScript. <a href="/problems">All problems</a>. The programs read their credentials from the environment: <code>LANEWISE_TOKEN</code> (a service token), <code>LANEWISE_SECRET</code> (a signing secret) and <code>LANEWISE_SIGN_IN</code> (the token of a sign-in).</p><h2>Operations</h2>${contents.join('')}${sections.join('')}`,
    { wide: true },
  )
}

function operationSection(address: string, operation: Operation, document: Document): string {
  const { operationId, summary, description, requestBody, responses } = operation
  const parameters = (operation.parameters ?? []).map((one) =>
    one.$ref === undefined ? one : (document.components.parameters[lastPart(one.$ref)] ?? one),
  )
  const [status, answer] = Object.entries(responses).find(([code]) => code.startsWith('2')) ?? []
  return [
    `<section id="${operationId}"><h3><code>${escaped(address)}</code></h3><p><strong>${escaped(summary)}.</strong> ${escaped(description)}</p>`,
    `<p>Called with: ${escaped(callers(operation))}.</p>`,
    parameters.length === 0
      ? ''
      : table(
          ['Parameter', 'In', 'Form', 'Meaning'],
          parameters.map(({ name, in: where, required, schema, description: meaning = '' }) => [
            code(name),
            where,
            `${escaped(formOf(schema, document))}${required === true ? ', required' : ''}`,
            escaped(meaning),
          ]),
        ),
    requestBody === undefined
      ? ''
      : `<h4>Body</h4><p>${escaped(requestBody.description ?? '')}</p>${mediaOf(requestBody.content, document)}`,
    answer === undefined || !('content' in answer)
      ? ''
      : `<h4>Response ${escaped(status ?? '')}</h4>${mediaOf(answer.content, document)}`,
    problemLinks(responses),
    ...(operation['x-codeSamples'] ?? []).map(
      ({ lang, label, source }) =>
        `<details><summary>${escaped(label === 'curl' ? 'curl' : lang)}</summary><pre><code>${escaped(source)}</code></pre></details>`,
    ),
    '</section>',
  ].join('')
}

const credentials: Readonly<Record<string, string>> = {
  dashboard: 'the token of a sign-in',
  service: 'a service token',
  signature: 'a signature',
  timestamp: 'its timestamp',
}

/** Who may call an operation, in words. */
function callers({ security }: Operation): string {
  const [needed] = security
  if (needed === undefined) return 'no credential'
  return Object.entries(needed)
    .map(([scheme, scopes]) => {
      const scope = scopes.length === 0 ? '' : ` with the scope ${scopes.join(', ')}`
      return `${credentials[scheme] ?? scheme}${scope}`
    })
    .join(', ')
}

/** The fields and the example of a body or a response. */
function mediaOf(content: Content, document: Document): string {
  return Object.entries(content)
    .map(([type, { schema, example }]) => {
      const fields = fieldsOf(schema, document)
      const shown =
        example === undefined ? '' : typeof example === 'string' ? example : JSON.stringify(example, null, 2)
      return [
        `<p><code>${escaped(type)}</code></p>`,
        fields.length === 0 ? '' : table(['Field', 'Form', 'Meaning'], fields),
        shown === ''
          ? ''
          : `<details open><summary>Example</summary><pre><code>${escaped(shown)}</code></pre></details>`,
      ].join('')
    })
    .join('')
}

/** The members of a schema. After a list come the members of its items, with the list's name and []. */
function fieldsOf(schema: Schema, document: Document, prefix = ''): string[][] {
  const { properties = {}, required = [], anyOf = [] } = resolved(schema, document)
  const own = Object.entries(properties).flatMap(([name, member]) => {
    const { items, description = '' } = resolved(member, document)
    const row = [
      code(`${prefix}${name}`),
      `${escaped(formOf(member, document))}${required.includes(name) ? ', required' : ''}`,
      escaped(member.description ?? description),
    ]
    // Deeper levels are in the OpenAPI document.
    const inner = items === undefined || prefix !== '' ? [] : fieldsOf(items, document, `${name}[].`)
    return [row, ...inner]
  })
  return own.length > 0 ? own : anyOf.flatMap((one) => fieldsOf(one, document, prefix))
}

function formOf(schema: Schema, document: Document): string {
  const { type, enum: values, const: only, anyOf, items } = resolved(schema, document)
  if (only !== undefined) return JSON.stringify(only)
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(', ')
  if (anyOf !== undefined) return [...new Set(anyOf.map((one) => formOf(one, document)))].join(' or ')
  if (items !== undefined) return `list of ${formOf(items, document)}`
  return type === undefined ? 'any' : [type].flat().join(' or ')
}

function resolved(schema: Schema, document: Document): Schema {
  return schema.$ref === undefined ? schema : (document.components.schemas[lastPart(schema.$ref)] ?? {})
}

/** The problems that an operation can answer with, by status. */
function problemLinks(responses: Operation['responses']): string {
  const links = Object.entries(responses).flatMap(([status, { content }]) =>
    Object.keys(content?.['application/problem+json']?.examples ?? {}).map(
      (problem) => `<a href="/problems/${problem}">${status} ${problem}</a>`,
    ),
  )
  return links.length === 0 ? '' : `<details><summary>Problems</summary><p>${links.join(', ')}</p></details>`
}

const lastPart = (reference: string) => reference.slice(reference.lastIndexOf('/') + 1)
const code = (text: string) => `<code>${escaped(text)}</code>`

/** A table of cells, which are HTML. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[], tag: string) =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`
  return `<table>${row(head, 'th')}${rows.map((cells) => row(cells, 'td')).join('')}</table>`
}
