import { parseSync, Visitor } from 'oxc-parser'
import { expect, test } from 'vitest'
import { shippedFiles, textOf } from './repository.ts'

/**
 * Promise: only the person changes the page. After a click on a link, the old page stays until the code of the next one has loaded: a
 * change of the address then, after a pause, an effect or an answer, would undo the click.
 *
 * How: the test finds every call in the dashboard that changes the address. Code that runs later must use `useOwnAddress` of
 * `dashboard/src/shared-ui/address.ts`, which first looks whether the person is still on the page.
 */

/** The files that change the address themselves, immediately at a click or a key. */
const atOnce = [
  'dashboard/src/imports/import-errors.tsx',
  'dashboard/src/integration/integration-address.ts',
  'dashboard/src/lane/lane-chooser.tsx',
  'dashboard/src/lane/lane-dots.tsx',
  'dashboard/src/quotes/quotes-list.tsx',
  'dashboard/src/shell/page-shortcuts.tsx',
  'dashboard/src/shell/palette.tsx',
]

/** The files that change the address later, with the reason why the person must leave the page. */
const later: Readonly<Record<string, string>> = {
  'dashboard/src/integration/integration-sandbox.tsx': 'the session is now that of another brokerage',
  'dashboard/src/shell/shell.tsx': 'the session has ended',
  'dashboard/src/sign-in/invitation.tsx': 'the session has begun',
  'dashboard/src/sign-in/sign-in.tsx': 'the session has begun',
  'dashboard/src/sign-in/sign-up.tsx': 'the session has begun',
}

const helper = 'dashboard/src/shared-ui/address.ts'

const changesAddress = /^(navigate|replaceState|pushState|assign|replace|redirect|back|forward|go)$/
const ofBrowser = /\b(router|history|location)$/
const delays =
  /^(use(Layout|Insertion)?Effect|setTimeout|setInterval|setImmediate|requestAnimationFrame|requestIdleCallback|queueMicrotask|useOnceSettled|useDebounced\w*|useTimeout|useInterval|then|catch|finally)$/
const answers = /^on(Success|Error|Settled|Mutate)$/

/** Returns the places where a file changes the address, and whether they run later. */
function changesIn(file: string, text: string): { later: boolean }[] {
  const found: number[] = []
  const delayed: { start: number; end: number }[] = []
  const { program } = parseSync(file, text)
  const asyncBody = (node: { async: boolean; start: number; end: number }) => {
    if (node.async) delayed.push(node)
  }
  new Visitor({
    CallExpression(node) {
      const { callee } = node
      if (callee.type === 'Identifier') {
        if (delays.test(callee.name)) delayed.push(node)
        if (/^(navigate|redirect)$/.test(callee.name)) found.push(node.start)
      } else if (callee.type === 'MemberExpression' && callee.property.type === 'Identifier') {
        const { name } = callee.property
        const owner = text.slice(callee.object.start, callee.object.end)
        if (delays.test(name)) delayed.push(node)
        if (changesAddress.test(name) && ofBrowser.test(owner)) found.push(node.start)
      }
    },
    AssignmentExpression({ left, start }) {
      if (/\blocation(\.(href|hash|search|pathname))?$/.test(text.slice(left.start, left.end)))
        found.push(start)
    },
    JSXOpeningElement({ name, start, end }) {
      if (text.slice(name.start, name.end) !== 'Navigate') return
      found.push(start)
      delayed.push({ start, end })
    },
    Property(node) {
      if (node.key.type === 'Identifier' && answers.test(node.key.name)) delayed.push(node)
    },
    FunctionDeclaration: asyncBody,
    FunctionExpression: asyncBody,
    ArrowFunctionExpression: asyncBody,
  }).visit(program)
  return found.map((at) => ({ later: delayed.some(({ start, end }) => start <= at && at < end) }))
}

const changes = new Map(
  shippedFiles()
    .filter((file) => file.startsWith('dashboard/src/') && file !== helper)
    .map((file) => [file, changesIn(file, textOf(file))] as const)
    .filter(([, found]) => found.length > 0),
)

test('what changes the page later looks first where the person is', () => {
  const found = [...changes].filter(([, found]) => found.some(({ later }) => later)).map(([file]) => file)
  expect(found.toSorted()).toEqual(Object.keys(later).toSorted())
})

test('a file that changes the page itself does so at the click or the key', () => {
  // Add a file here only if every way to its call begins with a click or a key, and waits for nothing.
  expect([...changes.keys()].filter((file) => !(file in later)).toSorted()).toEqual(atOnce)
})

test.each([
  ['an effect', `useEffect(() => { void navigate({ to: '/' }) }, [])`],
  ['a timer', `setTimeout(() => router.navigate({ to: '/' }), 300)`],
  ['a pause in typing', `const go = useDebouncedCallback(() => navigate({ to: '/' }), 300)`],
  ['a field that settles', `const show = useOnceSettled(() => void navigate({ to: '/' }))`],
  ['an answer', `save.mutate({}, { onSuccess: () => void navigate({ to: '/' }) })`],
  ['a promise', `void saved.then(() => history.replaceState(null, '', '/'))`],
  ['await', `const save = async () => { await sent; window.location.href = '/' }`],
  ['an element', `const page = <Navigate to="/" />`],
])('a later change is found: %s', (_what, text) => {
  expect(changesIn('planted.tsx', text)).toEqual([{ later: true }])
})

test('a change at a click is none of them', () => {
  expect(changesIn('planted.tsx', `const a = <a onClick={() => void navigate({ to: '/' })} />`)).toEqual([
    { later: false },
  ])
})
