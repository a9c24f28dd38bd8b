declare module 'virtual:operations' {
  const operations: Readonly<Record<string, { readonly method: string; readonly path: string }>>
  export default operations
}
