import { Page } from '../parts/page.tsx'

export default function Placeholder() {
  return <Page title="Quote desk">{null}</Page>
}
