import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Plugin } from 'vite'

const moduleName = 'virtual:tabler-icons'
const declared = join(import.meta.dirname, 'src/tabler-icons.d.ts')
const iconSet = createRequire(import.meta.url).resolve('@iconify-json/tabler/icons.json')

/**
 * Makes `virtual:tabler-icons`: a React component for each icon that src/tabler-icons.d.ts declares. The icons come from a
 * package of 3 MB that has them as data; the package of ready components takes 88 MB.
 */
export function tablerIcons(): Plugin {
  return {
    name: 'tabler-icons',
    resolveId: (id) => (id === moduleName ? `\0${moduleName}` : undefined),
    load: (id) => (id === `\0${moduleName}` ? { code: iconModule(), moduleSideEffects: false } : undefined),
  }
}

function iconModule(): string {
  const { icons } = JSON.parse(readFileSync(iconSet, 'utf8')) as { icons: Record<string, { body: string }> }
  const names = [...readFileSync(declared, 'utf8').matchAll(/export const (Icon\w+):/g)].map(
    ([, name = '']) => name,
  )
  const components = names.map((name) => {
    const body = icons[tablerName(name)]?.body
    if (body === undefined) throw new Error(`Tabler Icons has no icon ${tablerName(name)} (${name}).`)
    return `export const ${name} = /* @__PURE__ */ icon(${JSON.stringify(pathsOf(body))})`
  })
  return `
    import { createElement } from 'react'
    const icon = (paths) => ({ size = 24, ...props }) =>
      createElement('svg', { width: size, height: size, viewBox: '0 0 24 24', ...props },
        ...paths.map((path) => createElement('path', path)))
    ${components.join('\n')}`
}

/** @example tablerName('IconAlertTriangle') // 'alert-triangle' */
const tablerName = (name: string) =>
  name
    .slice('Icon'.length)
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()

/** The attributes of each path, as React names them. The icons have no elements but paths, and groups around all of them. */
function pathsOf(body: string): Record<string, string>[] {
  const elements = [...body.matchAll(/<(g|path)\b([^>]*?)\/?>/g)]
  const shared = elements.flatMap(([, name, attributes = '']) =>
    name === 'g' ? attributesOf(attributes) : [],
  )
  return elements.flatMap(([, name, attributes = '']) =>
    name === 'path' ? [Object.fromEntries([...shared, ...attributesOf(attributes)])] : [],
  )
}

const attributesOf = (text: string): [string, string][] =>
  [...text.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [
    name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
    value,
  ])
