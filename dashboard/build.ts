import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { build } from 'vite'
import { operationsTable } from '../client/operations-table.ts'
import { builtDigest, builtFrom, sourcesDigest } from './sources-digest.ts'
import { tablerIcons } from './tabler-icons.ts'

/**
 * Builds the dashboard into `dashboard/dist` if its sources changed since the last build. `npm start` and `npm test` run
 * this script. `--force` always builds.
 */

const target = join(import.meta.dirname, 'dist')

const isForced = process.argv.includes('--force')
/** The best quality takes as long as the rest of the build, for files that are 8 % smaller. A first start does not wait for it. */
const brotliQuality = isForced ? constants.BROTLI_MAX_QUALITY : 5

/** Compresses the files once, so that the server does not compress them per response. */
function compressed(): void {
  for (const path of globSync('**/*.{js,css,svg,json}', { cwd: target })) {
    const bytes = readFileSync(join(target, path))
    writeFileSync(
      join(target, `${path}.br`),
      brotliCompressSync(bytes, {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
          [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
        },
      }),
    )
    writeFileSync(join(target, `${path}.gz`), gzipSync(bytes, { level: 9 }))
  }
}

const digest = sourcesDigest()
if (digest !== builtDigest() || isForced) {
  process.stdout.write('lanewise: building the dashboard\n')
  await build({
    configFile: false,
    root: import.meta.dirname,
    logLevel: 'warn',
    plugins: [react(), operationsTable(), tablerIcons()],
    build: {
      outDir: target,
      emptyOutDir: true,
      target: 'es2023',
      // The Content-Security-Policy allows no inline scripts or images.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      // Only main.tsx and styles.ts have side effects. The bundler therefore leaves out the files of a folder that a page does not
      // use, although the folder's index.ts exports them. Without this rule, the first load is twice as large.
      rolldownOptions: {
        treeshake: {
          moduleSideEffects: [
            { test: /(dashboard|engine)\/src\/(?!main\.tsx|styles\.ts).*\.tsx?$/, sideEffects: false },
          ],
        },
      },
    },
  })
  compressed()
  mkdirSync(target, { recursive: true })
  writeFileSync(builtFrom, digest)
}
