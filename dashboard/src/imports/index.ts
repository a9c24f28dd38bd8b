/** CSV imports: choosing a file, checking its columns, following the import, and undoing it. */
export { default } from './imports.tsx'
